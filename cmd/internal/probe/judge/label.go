package judge

import (
	"net/http"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/wire"
)

// The labels of the corpus of recorded servers, which [Label] gives.
const (
	LabelProtocol      = "protocol_error"
	LabelText          = "isError_text"
	LabelJSON          = "isError_json"
	LabelStructured    = "isError_structured"
	LabelMaskedJSON    = "success_masking_error_json"
	LabelMaskedText    = "success_masking_error_text"
	LabelSilent        = "silent_success"
	LabelGarbage       = "garbage_passthrough"
	LabelCursorIgnored = "ok_cursor_ignored"
	LabelOkOrEmpty     = "ok_or_empty"
	LabelExtraAllowed  = "ok_extra_allowed"
	LabelReport        = "ok_report"
	LabelSlow          = "slow_tool"
	LabelHang          = "hang"
	LabelCrash         = "crash"
	LabelNoAnswer      = "no_answer"
)

// Label returns the pattern of an observation in the words of the corpus of recorded servers, such as isError_text. t is the tool, nil
// where the case belongs to none.
func Label(o *probe.Observation, t *probe.Tool) string {
	s := view(o, t)
	s.idle = o.Case.Fault != "" && o.Hits == 0
	return s.label()
}

func (s *sight) label() string {
	if s.named == "" {
		s.named = s.findLabel()
	}
	return s.named
}

// findLabel asks, in this order: did an answer come, does it say that it failed, does it look as if it had, and should it have.
func (s *sight) findLabel() string {
	switch {
	case s.Outcome == probe.OutcomeCrash:
		return LabelCrash
	case s.Outcome == probe.OutcomeHang && s.mayBeSlow():
		return LabelSlow
	case s.Outcome == probe.OutcomeHang:
		return LabelHang
	case !s.answered(), s.bare(), s.unreadable():
		return LabelNoAnswer
	case s.message.Error().Present():
		return LabelProtocol
	case s.flagged():
		return s.flaggedLabel()
	case s.Case.Name == probe.CaseToolsListBadCursor:
		return LabelCursorIgnored
	default:
		return s.successLabel()
	}
}

// answered reports that there is one message with something in it. The parts of a batch answer no case, and a result that is null is
// dropped by clients as if nothing had come.
func (s *sight) answered() bool {
	return s.Outcome == probe.OutcomeAnswered && s.Response != "" && s.message.Value().Type() != wire.TypeArray &&
		!s.message.Result().IsNull()
}

// bare reports an error over HTTP that is no message, such as a page, or what somebody in front of the server says. It is no answer to the
// call, and no success either.
func (s *sight) bare() bool {
	return s.Status >= http.StatusBadRequest && s.Response != "" && s.Size == 0 && !s.message.Value().Path("jsonrpc").Present()
}

// unreadable reports what is neither an error nor a result. A result that a recorder cut, and said so, was one: whatever marks a failure comes
// first.
func (s *sight) unreadable() bool {
	if s.message.Error().Present() || s.message.Result().Present() {
		return false
	}
	return s.Size > 0 || !recorderCut.MatchString(s.Response)
}

var recorderCut = lazyregexp.New(`(?s)^\{.{0,80}"result":.*…\[\+\d+ chars\]$`)

func (s *sight) flagged() bool { return s.reading.Verdict == contract.VerdictTool }

// flaggedLabel says where a program would find the facts: a structured envelope, JSON in a text, or nowhere.
func (s *sight) flaggedLabel() string {
	structured, _ := s.message.ResultMember("structuredContent")
	switch {
	case structured.Type() == wire.TypeObject && tellsOfFailure(structured):
		return LabelStructured
	case s.payload().Present():
		return LabelJSON
	default:
		return LabelText
	}
}

func (s *sight) successLabel() string {
	switch {
	case s.isReport():
		return LabelReport
	case s.passedOn():
		return LabelGarbage
	case s.masked() && s.inJSON():
		return LabelMaskedJSON
	case s.masked():
		return LabelMaskedText
	case s.Case.Name == probe.CaseExtraProperty && !s.closed():
		return LabelExtraAllowed
	case s.Case.Group == probe.GroupDomain || s.Case.Name != probe.CaseExtraProperty && !s.due():
		return LabelOkOrEmpty
	default:
		return LabelSilent
	}
}

// masked reports a failure that looks like a success. A tool that was asked for an error has done what it was asked for.
func (s *sight) masked() bool {
	if s.asksForError() {
		return false
	}
	return s.reading.Verdict == contract.VerdictMasked || s.Case.Group != probe.GroupDomain && s.admits()
}

// anError are the words by which a caller chooses an error, as one of several sample answers.
var anError = lazyregexp.New(`(?i)^(an? )?(sample|test|simulated?)?[_ -]?(error|err|failure|fail|failed|exception|crash)$`)

// asksForError reports a call in which an argument chooses an error: one of the values that the schema lists says so.
func (s *sight) asksForError() bool {
	if s.tool == nil || s.Case.Expect == probe.ExpectRefusal || s.Case.Fault != "" {
		return false
	}
	properties := schemaOf(s.tool).Path("properties")
	for key, v := range s.arguments().Members() {
		value, ok := v.Str()
		name, _ := key.Str()
		if !ok || !anError.MatchString(value) {
			continue
		}
		for choice := range properties.Path(name, "enum").Elements() {
			if choice.Is(value) {
				return true
			}
		}
	}
	return false
}

// inJSON reports a masked failure that a program could find: in the JSON of the first text, or in members of the result.
func (s *sight) inJSON() bool {
	return s.payload().Present() || s.reading.Rule == contract.RuleLegacyResult
}

// page is an HTML page in an answer, as JSON writers spell it.
var page = lazyregexp.New(`(?s)(<|\\u003c)html.*(<|\\u003c)/html(>|\\u003e)`)

// passedOn reports that the upstream said 200 with what is no answer, and the tool took it for one. Where nothing but the page itself reads as a
// failure, the tool has not noticed one.
func (s *sight) passedOn() bool {
	if s.idle || s.Case.Name != probe.CaseUpstreamHTML && s.Case.Name != probe.CaseUpstreamNoise {
		return false
	}
	if !s.masked() {
		return true
	}
	without := *s.Observation
	without.Response = page.Get().ReplaceAllLiteralString(s.Response, "")
	return without.Response != s.Response && !view(&without, s.tool).masked()
}

// closed reports a tool whose schema allows no member that it does not name.
func (s *sight) closed() bool {
	if s.tool == nil {
		return false
	}
	more, isBool := schemaOf(s.tool).Path("additionalProperties").Bool()
	return isBool && !more
}

// mayBeSlow reports a call that is allowed to last: the tool says that it takes long, or that it waits, and nothing in the call was for it to refuse.
func (s *sight) mayBeSlow() bool {
	return s.tool != nil && s.Case.Expect != probe.ExpectRefusal &&
		(says(s.tool.Name+" "+s.tool.Description, "long running", "sleep", "delay") || says(" "+s.tool.Name+" ", " wait ", " poll "))
}

// isReport reports a tool whose job it is to tell how things stand, so that bad news is its result.
func (s *sight) isReport() bool {
	return s.tool != nil && s.Case.Group == probe.GroupUpstream && len(required(s.tool)) == 0 && says(s.tool.Name, "status", "health", "current time")
}

// says reports whether a text has one of the phrases, whatever joins their words.
func says(text string, phrases ...string) bool {
	words := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return ' '
		}
		return r
	}, strings.ToLower(text))
	for _, p := range phrases {
		if strings.Contains(words, p) {
			return true
		}
	}
	return false
}
