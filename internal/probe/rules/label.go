package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// The labels of the corpus of recorded servers; see [Label].
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

// Label returns the label of an observation, as the corpus of recorded servers has it, such as isError_text. t is the
// tool of the case, nil if it has none.
func Label(o *probe.Observation, t *probe.Tool) string {
	s := view(o, t)
	s.idle = o.Case.Fault != "" && o.Hits == 0
	return s.label()
}

func (s *caseResult) label() string {
	if s.named == "" {
		s.named = s.findLabel()
	}
	return s.named
}

// findLabel checks, in this order: is there an answer, does it report a failure, does it look like a failure, and should it have failed.
func (s *caseResult) findLabel() string {
	switch {
	case s.Outcome == probe.OutcomeCrash:
		return LabelCrash
	case s.Outcome == probe.OutcomeHang && s.mayBeSlow():
		return LabelSlow
	case s.Outcome == probe.OutcomeHang:
		return LabelHang
	case !s.answered(), s.isBareHTTP(), s.unreadable():
		return LabelNoAnswer
	case s.message.Error().Present():
		return LabelProtocol
	case s.isFlagged():
		return s.flaggedLabel()
	case s.Case.Name == probe.CaseToolsListBadCursor:
		return LabelCursorIgnored
	default:
		return s.successLabel()
	}
}

// answered reports whether the answer is one message with content. A batch answers no case, and clients drop a null result.
func (s *caseResult) answered() bool {
	return s.Outcome == probe.OutcomeAnswered && s.Response != "" && s.message.Value().Type() != wire.TypeArray &&
		!s.message.Result().IsNull()
}

// isBareHTTP reports whether the answer is an HTTP error without a JSON-RPC message, such as a page of a proxy. It does
// not answer the call, and is not a success.
func (s *caseResult) isBareHTTP() bool {
	return s.Status >= http.StatusBadRequest && s.Response != "" && s.Size == 0 && !s.message.Value().Path("jsonrpc").Present()
}

// unreadable reports whether the answer is not an error and not a result. A result that the recorder truncated and
// marked counts as one: the members that mark a failure come first.
func (s *caseResult) unreadable() bool {
	if s.message.Error().Present() || s.message.Result().Present() {
		return false
	}
	return s.Size > 0 || !recorderCut.MatchString(s.Response)
}

var recorderCut = lazyregexp.New(`(?s)^\{.{0,80}"result":.*…\[\+\d+ chars\]$`)

func (s *caseResult) isFlagged() bool { return s.reading.Verdict == contract.VerdictTool }

// flaggedLabel returns the label of an isError result, by where a program can read the error: a structured envelope, JSON in a text, or nowhere.
func (s *caseResult) flaggedLabel() string {
	structured, _ := s.message.ResultMember("structuredContent")
	switch {
	case structured.Type() == wire.TypeObject && hasErrorMember(structured), s.carriesEnvelope():
		return LabelStructured
	case s.payload().Present():
		return LabelJSON
	default:
		return LabelText
	}
}

func (s *caseResult) successLabel() string {
	switch {
	case s.isReport():
		return LabelReport
	case s.passesGarbage():
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

// masked reports whether the answer is a failure that looks like a success. A tool that was asked to return an error has not failed.
func (s *caseResult) masked() bool {
	if s.asksForError() {
		return false
	}
	return s.reading.Verdict == contract.VerdictMasked || s.Case.Group != probe.GroupDomain && s.mentionsFailure()
}

// anError matches an argument value that asks for an error, as one of several sample answers.
var anError = lazyregexp.New(`(?i)^(an? )?(sample|test|simulated?)?[_ -]?(error|err|failure|fail|failed|exception|crash)$`)

// asksForError reports whether an argument of the call asks for an error, with a value that the schema lists.
func (s *caseResult) asksForError() bool {
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

// inJSON reports whether a program can read the masked failure: it is in the JSON of the first text, or in members of the result.
func (s *caseResult) inJSON() bool {
	return s.payload().Present() || s.reading.Rule == "legacy-tool-result"
}

// page matches an HTML page in an answer, with or without JSON escapes.
var page = lazyregexp.New(`(?s)(<|\\u003c)html.*(<|\\u003c)/html(>|\\u003e)`)

// passesGarbage reports whether the upstream answered 200 with garbage and the tool passed it on as a result. If only
// the page itself reads like a failure, the tool has not noticed it.
func (s *caseResult) passesGarbage() bool {
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

// closed reports whether the tool's schema forbids additional properties.
func (s *caseResult) closed() bool {
	if s.tool == nil {
		return false
	}
	more, isBool := schemaOf(s.tool).Path("additionalProperties").Bool()
	return isBool && !more
}

// mayBeSlow reports whether the call may take long: the tool is described as slow or waiting, and the call did not have to be refused.
func (s *caseResult) mayBeSlow() bool {
	return s.tool != nil && s.Case.Expect != probe.ExpectRefusal &&
		(says(s.tool.Name+" "+s.tool.Description, "long running", "sleep", "delay") || says(" "+s.tool.Name+" ", " wait ", " poll "))
}

// isReport reports whether the tool reports a status, so that a failure of its upstream is a valid result.
func (s *caseResult) isReport() bool {
	return s.tool != nil && s.Case.Group == probe.GroupUpstream && len(required(s.tool)) == 0 && says(s.tool.Name, "status", "health", "current time")
}

// says reports whether a text has one of the phrases, with spaces, hyphens, dots or underscores between the words.
func says(text string, phrases ...string) bool {
	words := separators.Replace(strings.ToLower(text))
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(words, p) })
}

var separators = strings.NewReplacer("_", " ", "-", " ", ".", " ")

// carriesEnvelope reports a result with Candor's own envelope in _meta.
func (s *caseResult) carriesEnvelope() bool {
	meta, _ := s.message.ResultMember("_meta")
	own, ok := meta.Get(dialect.MetaKey)
	return ok && own.Type() == wire.TypeObject
}
