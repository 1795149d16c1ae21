package judge

import (
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/wire"
)

// shortAnswer is how long a text can be and still be about nothing but a failure.
const shortAnswer = 600

// sight is an observation with what can be read in it, read once.
type sight struct {
	*probe.Observation

	tool     *probe.Tool
	server   *probe.Server // nil in Label, which needs none
	set      string        // by which it is judged
	exchange *contract.Exchange
	message  *wire.Message
	reading  contract.Reading
	sound    *sight   // how the tool answered sound arguments, nil if it was not asked; of a party only
	idle     bool     // the upstream was made to fail, and was not asked; in Label only, because a party leaves such cases out
	read     *facts   // by facts
	named    string   // by label
	common   []string // by commonWords
}

func view(o *probe.Observation, t *probe.Tool) *sight {
	x := &contract.Exchange{Lost: o.Response == ""}
	if o.Request != "" {
		m := wire.Parse(firstMessage(o.Request), wire.Limits{})
		x.Request = &m
	}
	if !x.Lost {
		x.Response = wire.Parse(firstMessage(o.Response), wire.Limits{})
	}
	if t != nil {
		x.InputSchema, _ = wire.ParseValue(t.InputSchema, wire.Limits{}) // one that cannot be read is not known
	}
	return &sight{Observation: o, tool: t, exchange: x, message: &x.Response, reading: contract.Read(x)}
}

// firstMessage is the first of several messages, one a line, where a case has more than one; a body may have line ends of its own.
func firstMessage(response string) []byte {
	first, _, several := strings.Cut(response, "\n")
	if several && wire.Valid([]byte(first), wire.Limits{AllowLoneSurrogates: true}) {
		return []byte(first)
	}
	return []byte(response)
}

// payload is the JSON in the first text of a result, absent if it is prose.
func (s *sight) payload() wire.Value {
	text, ok := s.firstText()
	text = strings.TrimSpace(text)
	if !ok || text == "" || text[0] != '{' && text[0] != '[' {
		return wire.Value{}
	}
	v, err := wire.ParseValue([]byte(text), wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return wire.Value{}
	}
	return v
}

func (s *sight) firstText() (string, bool) {
	first, _ := s.message.ResultFirst("content", "text")
	return first.Str()
}

// tellsOfFailure reports an object that has a member in which errors are told.
func tellsOfFailure(v wire.Value) bool {
	for _, name := range []string{"error", "code", "errors", "errorCode", "error_code"} {
		if m, ok := v.Get(name); ok && !m.IsNull() {
			return true
		}
	}
	return false
}

// confession are words that prove nothing by themselves: a success may talk about errors.
var confession = lazyregexp.New(`(?i)\b(errors?|exception|failed|failure|unable|invalid|unauthorized|forbidden|denied|rate.?limit(ed)?|too many requests|timed? ?out|cannot|can't|could not|couldn't|not found|does not exist|doesn't exist|refused|unreachable|exit (code|status):? [1-9]\d*)\b`)

// admits reports words of failure in a short answer in prose to a case that had to fail.
func (s *sight) admits() bool {
	text, ok := s.firstText()
	return ok && s.due() && !s.payload().Present() && len(text) <= shortAnswer && confession.MatchString(text)
}

// due reports a case in which an honest server fails.
func (s *sight) due() bool {
	return !s.idle && (s.Case.Expect == probe.ExpectRefusal || s.Case.Expect == probe.ExpectFailure)
}

// schemaOf is the tool's input schema, absent if it has none that can be read.
func schemaOf(t *probe.Tool) wire.Value {
	v, err := wire.ParseValue(t.InputSchema, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return wire.Value{}
	}
	return v
}

// required are the arguments that the tool's schema demands.
func required(t *probe.Tool) []string {
	var out []string
	for v := range schemaOf(t).Path("required").Elements() {
		if name, ok := v.Str(); ok {
			out = append(out, name)
		}
	}
	return out
}
