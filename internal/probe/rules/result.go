package rules

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// shortAnswer is the maximum length of a text that is only about a failure.
const shortAnswer = 600

// caseResult is an observation with its parsed request and answer.
type caseResult struct {
	*probe.Observation

	tool     *probe.Tool
	server   *probe.Server // nil in Label
	set      string        // the rule set
	exchange *contract.Exchange
	message  *wire.Message
	reading  contract.Reading
	sound    *caseResult // the case with valid arguments, nil if there is none
	idle     bool        // the upstream was made to fail and got no request; only in Label, because dropUnasked removes such cases
	read     *facts      // cache of facts
	named    string      // cache of label
	common   []string    // cache of commonWords
}

func view(o *probe.Observation, t *probe.Tool) *caseResult {
	x := &contract.Exchange{Lost: o.Response == ""}
	if o.Request != "" {
		m := wire.Parse(firstMessage(o.Request), wire.Limits{})
		x.Request = &m
	}
	if !x.Lost {
		x.Response = wire.Parse(firstMessage(o.Response), wire.Limits{})
	}
	if t != nil {
		x.InputSchema, _ = wire.ParseValue(t.InputSchema, wire.Limits{}) // an unreadable schema is ignored
	}
	return &caseResult{Observation: o, tool: t, exchange: x, message: &x.Response, reading: contract.Read(x)}
}

// firstMessage returns the first of several messages, one per line. A single message may have line breaks.
func firstMessage(response string) []byte {
	first, _, several := strings.Cut(response, "\n")
	if _, err := wire.ParseValue([]byte(first), wire.Limits{AllowLoneSurrogates: true}); several && err == nil {
		return []byte(first)
	}
	return []byte(response)
}

// payload returns the JSON in the first text of a result, absent if the text is prose.
func (s *caseResult) payload() wire.Value {
	text, ok := s.firstText()
	text = strings.TrimSpace(text)
	if !ok || text == "" || text[0] != '{' && text[0] != '[' {
		return wire.Value{}
	}
	v, _ := wire.ParseValue([]byte(text), wire.Limits{AllowLoneSurrogates: true}) // absent if it is not JSON
	return v
}

func (s *caseResult) firstText() (string, bool) {
	first, _ := s.message.ResultFirst("content", "text")
	return first.Str()
}

// hasErrorMember reports whether an object has a member that holds an error.
func hasErrorMember(v wire.Value) bool {
	return slices.ContainsFunc([]string{"error", "code", "errors", "errorCode", "error_code"}, func(name string) bool {
		m, ok := v.Get(name)
		return ok && !m.IsNull()
	})
}

// failureWords matches words of failure. They prove nothing by themselves: a success may mention errors.
var failureWords = lazyregexp.New(`(?i)\b(errors?|exception|failed|failure|unable|invalid|unauthorized|forbidden|denied|rate.?limit(ed)?|too many requests|timed? ?out|cannot|can't|could not|couldn't|not found|does not exist|doesn't exist|refused|unreachable|exit (code|status):? [1-9]\d*)\b`)

// mentionsFailure reports whether the answer to a case that had to fail is short prose with words of failure.
func (s *caseResult) mentionsFailure() bool {
	text, ok := s.firstText()
	return ok && s.due() && !s.payload().Present() && len(text) <= shortAnswer && failureWords.MatchString(text)
}

// due reports whether an honest server has to fail in the case.
func (s *caseResult) due() bool {
	return !s.idle && (s.Case.Expect == probe.ExpectRefusal || s.Case.Expect == probe.ExpectFailure)
}

// schemaOf returns the tool's input schema, absent if it cannot be read.
func schemaOf(t *probe.Tool) wire.Value {
	v, _ := wire.ParseValue(t.InputSchema, wire.Limits{AllowLoneSurrogates: true})
	return v
}

// required returns the arguments that the tool's schema requires.
func required(t *probe.Tool) []string {
	var out []string
	for v := range schemaOf(t).Path("required").Elements() {
		if name, ok := v.Str(); ok {
			out = append(out, name)
		}
	}
	return out
}
