// Package profile turns what was seen of a server into rules for the gateway: which of its successes are failures, and what its errors
// mean. A person reads the file before it is used, so every rule says what it was learnt from.
//
// A rule is made only of a case that had to fail, never of a guess alone. No rule is made that would hold for an answer of the same tool that
// went well. An answer that the judge reports as a finding is not taken for one that went well.
package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/judge"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// Mask says which successes of a tool are failures.
type Mask struct {
	Tool   string
	Path   string      // JSON Pointer
	Equals string      // JSON; "" is any value that is there
	Text   string      // regular expression
	Except string      // regular expression that lifts the rule
	Code   candor.Code // the zero Code leaves it to what the text says
	Note   string
}

// CodeRule says what an error of the server means.
type CodeRule struct {
	Tool string
	Text string // regular expression
	Code candor.Code
	Note string
}

// ResultRule says that the failures of a tool come as JSON-RPC errors, and should be told as results.
type ResultRule struct {
	Tool string
	Note string
}

// Profile is what was learnt about one server.
type Profile struct {
	Server  string
	Masks   []Mask
	Codes   []CodeRule
	Results []ResultRule
}

// Learn makes a profile of a run. The same run gives the same profile.
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

// sight is one answer of a tool, read.
type sight struct {
	at      *probe.Observation
	result  wire.Value
	text    string   // the first one
	values  []string // the texts among the arguments of the call, the longest first
	reading contract.Reading
}

// lessons is what one tool said, cut in three.
type lessons struct {
	tool   string
	masked []sight // failures that look like successes
	failed []sight // failures that say so
	well   []sight // everything else: no rule may hold for it
}

func gather(run *probe.Run, tool string) lessons {
	l := lessons{tool: tool}
	for i := range run.Observations {
		o := &run.Observations[i]
		if o.Case.Tool != tool || o.Outcome != probe.OutcomeAnswered || o.Response == "" {
			continue
		}
		message := wire.Parse([]byte(o.Response), wire.Limits{})
		s := sight{at: o, result: message.Result(), values: valuesOf(o), reading: contract.Read(&contract.Exchange{Response: message})}
		s.text, _ = s.result.Path("content", 0, "text").Str()
		mustFail := o.Case.Expect == probe.ExpectRefusal || o.Case.Expect == probe.ExpectFailure
		switch {
		case s.reading.Verdict == contract.VerdictMasked && mustFail:
			l.masked = append(l.masked, s)
		case s.reading.Verdict == contract.VerdictTool || s.reading.Verdict == contract.VerdictProtocol:
			l.failed = append(l.failed, s)
		case s.reading.Verdict == contract.VerdictMasked && o.Case.Group == probe.GroupLiveness, reported(o, run.Tool(tool)):
			// It may be the same failure in a case in which none was due. It teaches nothing, and does not stand for a success.
		default:
			l.well = append(l.well, s)
		}
	}
	return l
}

// reported reports a success that the judge takes for a failure.
func reported(o *probe.Observation, t *probe.Tool) bool {
	switch judge.Label(o, t) {
	case judge.LabelMaskedText, judge.LabelMaskedJSON, judge.LabelGarbage:
		return true
	case judge.LabelSilent:
		return o.Case.Group == probe.GroupUpstream
	default:
		return false
	}
}

// masks returns the rules that unmask what was seen masked, each once.
func (l *lessons) masks() (out []Mask) {
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

// mask makes the rule for one masked answer, if one can be made that spares all that went well.
func (l *lessons) mask(s *sight) (Mask, bool) {
	note := fmt.Sprintf("seen for %s: %s", s.at.Case.Name, excerpt(s.text, s.result))
	for _, c := range marks(s) {
		c.Tool, c.Note = l.tool, note
		if s.reading.Error != nil && s.reading.Error.Code() == unknownFailure {
			c.Code = codeFor(&s.at.Case)
		}
		if c.holds(s) && !slices.ContainsFunc(l.well, func(w sight) bool { return c.holds(&w) }) {
			return c, true
		}
	}
	return Mask{}, false
}

// results returns the rule for a tool that tells failures of its own as JSON-RPC errors. Those about arguments do not count: the gateway
// refuses bad arguments itself.
func (l *lessons) results() []ResultRule {
	for i := range l.failed {
		s := &l.failed[i]
		own := s.at.Case.Group == probe.GroupDomain || s.at.Case.Group == probe.GroupUpstream
		if own && s.reading.Verdict == contract.VerdictProtocol {
			return []ResultRule{{Tool: l.tool, Note: fmt.Sprintf("seen for %s: %s", s.at.Case.Name, excerpt(s.reading.Error.Message(), s.result))}}
		}
	}
	return nil
}

// excerpt is a few safe words of an answer, for whoever reads the file.
func excerpt(text string, result wire.Value) string {
	if text == "" {
		text = string(result.Path("structuredContent").Raw())
	}
	text = strings.Join(strings.Fields(contract.Bound(text, 160)), " ")
	return contract.Bound(text, 100)
}
