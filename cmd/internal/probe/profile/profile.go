// Package profile derives rules for the gateway from a run: which successes of a server are failures, and what its errors mean. People review
// the file before it is used, so every rule names the case that it comes from.
//
// Rules come only from cases that had to fail, never from a guess. No rule matches a successful answer of the same tool. An answer that judge
// reports as a finding does not count as successful.
package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
	"github.com/candor-mcp/candor/wire"
)

// Mask is a rule for successes of a tool that are failures.
type Mask struct {
	Tool      string      `json:"tool"`
	Path      string      `json:"path,omitempty"`   // JSON Pointer
	Equals    string      `json:"equals,omitempty"` // JSON; "" is any value
	Text      string      `json:"text,omitempty"`   // regular expression
	Except    string      `json:"except,omitempty"` // regular expression for exceptions
	Code      candor.Code `json:"-"`                // the zero Code infers it from the text
	Note      string      `json:"-"`
	Suspected bool        `json:"suspected"` // limits the rule to answers that look like failures without it
}

// CodeRule is a rule for the code of an error.
type CodeRule struct {
	Tool string
	Text string // regular expression
	Code candor.Code
	Note string
}

// ResultRule is a rule that turns the JSON-RPC errors of a tool into results.
type ResultRule struct {
	Tool string
	Note string
}

// Profile has the rules for one server.
type Profile struct {
	Server  string
	Masks   []Mask
	Codes   []CodeRule
	Results []ResultRule
}

// Learn derives a profile from a run. The same run gives the same profile.
func Learn(run *probe.Run) *Profile {
	p := &Profile{Server: run.Server.Name}
	for _, name := range toolsOf(run) {
		l := gather(run, name)
		p.Masks = append(p.Masks, l.masks()...)
		p.Codes = append(p.Codes, l.codes()...)
		p.Results = append(p.Results, l.results()...)
	}
	return p
}

// toolsOf returns the tools that were called, in the order of the run.
func toolsOf(run *probe.Run) (names []string) {
	for i := range run.Observations {
		if name := run.Observations[i].Case.Tool; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// parsedAnswer is a parsed answer of a tool.
type parsedAnswer struct {
	at      *probe.Observation
	result  wire.Value
	text    string   // the first text
	values  []string // text values of the arguments, the longest first
	reading contract.Reading
}

// toolAnswers are the answers of one tool in three groups.
type toolAnswers struct {
	tool   string
	masked []parsedAnswer // failures that look like successes
	failed []parsedAnswer // reported failures
	well   []parsedAnswer // all others, which no rule may match
}

func gather(run *probe.Run, tool string) toolAnswers {
	l := toolAnswers{tool: tool}
	for i := range run.Observations {
		o := &run.Observations[i]
		if o.Case.Tool != tool || o.Outcome != probe.OutcomeAnswered || o.Response == "" {
			continue
		}
		message := wire.Parse([]byte(o.Response), wire.Limits{})
		s := parsedAnswer{at: o, result: message.Result(), values: valuesOf(o), reading: contract.Read(&contract.Exchange{Response: message})}
		s.text, _ = s.result.Path("content", 0, "text").Str()
		mustFail := o.Case.Expect == probe.ExpectRefusal || o.Case.Expect == probe.ExpectFailure
		switch {
		case s.reading.Verdict == contract.VerdictMasked && mustFail:
			l.masked = append(l.masked, s)
		case s.reading.Verdict == contract.VerdictTool || s.reading.Verdict == contract.VerdictProtocol:
			l.failed = append(l.failed, s)
		case s.reading.Verdict == contract.VerdictMasked && o.Case.Group == probe.GroupLiveness, reported(o, run.Tool(tool)):
			// It may be the same failure in a case that need not fail. It counts neither as a failure nor as a success.
		default:
			l.well = append(l.well, s)
		}
	}
	return l
}

// reported reports whether judge has a finding for a success.
func reported(o *probe.Observation, t *probe.Tool) bool {
	switch rules.Label(o, t) {
	case rules.LabelMaskedText, rules.LabelMaskedJSON, rules.LabelGarbage:
		return true
	case rules.LabelSilent:
		return o.Case.Group == probe.GroupUpstream
	default:
		return false
	}
}

// masks returns the rules for the masked failures, without duplicates.
func (l *toolAnswers) masks() (out []Mask) {
	for i := range l.masked {
		s := &l.masked[i]
		if slices.ContainsFunc(out, func(m Mask) bool { return m.holds(s) }) {
			continue
		}
		if m, ok := l.mask(s); ok {
			out = append(out, m)
		}
	}
	return out
}

// mask returns the rule for a masked answer, if there is one that matches no successful answer.
func (l *toolAnswers) mask(s *parsedAnswer) (Mask, bool) {
	note := fmt.Sprintf("seen for %s: %s", s.at.Case.Name, excerpt(s.text, s.result))
	for _, c := range marks(s) {
		c.Tool, c.Note = l.tool, note
		if s.reading.Error != nil && s.reading.Error.Code() == candor.CodeUnknownToolFailure {
			c.Code = codeFor(&s.at.Case)
		}
		if c.holds(s) && !slices.ContainsFunc(l.well, func(w parsedAnswer) bool { return c.holds(&w) }) {
			return c, true
		}
	}
	return Mask{}, false
}

// results returns the rule for a tool that sends its failures as JSON-RPC errors. Refusals of arguments do not count, because the gateway
// refuses bad arguments itself.
func (l *toolAnswers) results() []ResultRule {
	for i := range l.failed {
		s := &l.failed[i]
		own := s.at.Case.Group == probe.GroupDomain || s.at.Case.Group == probe.GroupUpstream
		if own && s.reading.Verdict == contract.VerdictProtocol {
			return []ResultRule{{Tool: l.tool, Note: fmt.Sprintf("seen for %s: %s", s.at.Case.Name, excerpt(s.reading.Error.Message(), s.result))}}
		}
	}
	return nil
}

// excerpt returns the beginning of an answer for a note, redacted.
func excerpt(text string, result wire.Value) string {
	if text == "" {
		text = string(result.Path("structuredContent").Raw())
	}
	text = strings.Join(strings.Fields(candor.Public(text, 160)), " ")
	return candor.Public(text, 100)
}
