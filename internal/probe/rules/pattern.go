package rules

import (
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// pattern returns how the case failed; ok is false if it did not. A liveness case fails only if it is not answered: the answers to two
// requests with the same id, for example, depend on timing.
func (s *caseResult) pattern() (p probe.Pattern, ok bool) {
	if s.Case.Group == probe.GroupLiveness && s.answered() {
		return "", false
	}
	switch s.label() {
	case LabelProtocol:
		return probe.PatternRPC, true
	case LabelText, LabelJSON, LabelStructured:
		return s.flaggedPattern(), true
	case LabelMaskedJSON, LabelMaskedText:
		return s.maskedPattern(), true
	case LabelSilent:
		return probe.PatternSilent, true
	case LabelGarbage:
		return probe.PatternGarbage, true
	case LabelHang, LabelCrash:
		return probe.PatternNoAnswer, true
	case LabelNoAnswer:
		return probe.PatternNoAnswer, s.Case.Expect != probe.ExpectSilence
	default:
		return "", false
	}
}

func (s *caseResult) flaggedPattern() probe.Pattern {
	structured, _ := s.message.ResultMember("structuredContent")
	switch {
	case saysNotOK(s.payload()) || saysNotOK(structured):
		return probe.PatternA
	case structured.Type() == wire.TypeObject || s.facts().own != nil:
		return probe.PatternStructured
	case s.payload().Present():
		return probe.PatternJSON
	default:
		return probe.PatternText
	}
}

func (s *caseResult) maskedPattern() probe.Pattern {
	structured, _ := s.message.ResultMember("structuredContent")
	for _, v := range []wire.Value{s.payload(), structured} {
		if saysNotOK(v) || saysNotOK(v.Path("data")) {
			return probe.PatternB
		}
	}
	if s.label() == LabelMaskedJSON {
		return probe.PatternMaskedJSON
	}
	return probe.PatternMaskedText
}

// saysNotOK reports whether v has the form {ok:false, error:{code…}}.
func saysNotOK(v wire.Value) bool {
	ok, is := v.Path("ok").Bool()
	return is && !ok && v.Path("error", "code").Present()
}

// reported reports whether the case failed and the answer reports the failure, as an error or masked as a success.
func (s *caseResult) reported() bool { return s.failed() && !s.unreported() }

// unreported reports whether the case failed and the answer does not report it.
func (s *caseResult) unreported() bool {
	p, _ := s.pattern()
	return p == probe.PatternSilent || p == probe.PatternGarbage || p == probe.PatternNoAnswer
}

func (s *caseResult) failed() bool {
	_, ok := s.pattern()
	return ok
}
