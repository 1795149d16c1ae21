package judge

import (
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// pattern is the way in which the case failed; ok is false if it did not. What is only about staying alive fails by no answer and by nothing
// else: how two requests under one id are answered depends on which is the quicker.
func (s *sight) pattern() (p probe.Pattern, ok bool) {
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

func (s *sight) flaggedPattern() probe.Pattern {
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

func (s *sight) maskedPattern() probe.Pattern {
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

// saysNotOK reports {ok:false, error:{code…}}.
func saysNotOK(v wire.Value) bool {
	ok, is := v.Path("ok").Bool()
	return is && !ok && v.Path("error", "code").Present()
}

// told reports a failure that was told, be it in disguise: there is something to read.
func (s *sight) told() bool { return s.failed() && !s.untold() }

// untold reports a failure of which nothing is said.
func (s *sight) untold() bool {
	p, _ := s.pattern()
	return p == probe.PatternSilent || p == probe.PatternGarbage || p == probe.PatternNoAnswer
}

func (s *sight) failed() bool {
	_, ok := s.pattern()
	return ok
}
