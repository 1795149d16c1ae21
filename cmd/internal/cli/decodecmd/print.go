package decodecmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/catalogue"
)

// writeReading prints a verdict: one line if the response is clean, else a block.
func writeReading(env *term.Env, r contract.Reading, at string) {
	p := env.Colors()
	fmt.Fprintf(env.Out, "%s: %s\n", at, verdictWords(p, r.Conclusion))
	if r.Error != nil {
		writeCard(env.Out, p, r.Error, "  ")
	}
	for _, v := range r.Violations {
		fmt.Fprintf(env.Out, "  %s %s (%s)\n", p.Warn(term.Pad("note", 6)), v.Message, v.Rule)
	}
}

func verdictWords(p term.Colors, c contract.Conclusion) string {
	if !c.Verdict.Failure() {
		return p.Good(string(c.Verdict))
	}
	if c.Certainty == contract.Suspected {
		return p.Warn(string(c.Verdict)) + p.Faint(fmt.Sprintf(", suspected (%s, confidence %.2f)", c.Rule, c.Confidence))
	}
	return p.Bad(string(c.Verdict)) + p.Faint(fmt.Sprintf(" (%s)", c.Rule))
}

// writeCard prints an error: code, message, class, retry, fields and next step.
func writeCard(out io.Writer, p term.Colors, e *candor.Error, indent string) {
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "%s%s %s\n", indent, p.Name(term.Pad(name, 6)), term.OneLine(text))
		}
	}
	row("code", p.Bold(e.Code().Symbol())+" "+p.Faint(fmt.Sprintf("(%s %d)", e.Code().Domain(), e.Code().Number())))
	row("says", e.Message())
	row("class", string(e.Class())+": "+catalogue.ClassMeaning(string(e.Class())))
	row("retry", term.RetryWords(e.Retry()))
	for _, issue := range e.Details().Issues() {
		row("field", IssueWords(issue))
	}
	row("do", e.Suggestion())
	row("ref", e.Ref())
}

// IssueWords describes a validation issue in one line.
func IssueWords(i candor.Issue) string {
	path := i.Path
	if path == "" {
		path = "(the arguments)"
	}
	for _, text := range []string{i.Message, i.Hint, i.Rule} {
		if text != "" {
			return path + ": " + text
		}
	}
	return path
}

// tally counts verdicts for the summary and for --fail-on.
type tally struct {
	total, certain, suspected int
	byVerdict                 map[contract.Verdict]int
}

func (t *tally) add(r contract.Reading) {
	if t.byVerdict == nil {
		t.byVerdict = map[contract.Verdict]int{}
	}
	t.total++
	switch {
	case r.Verdict.Failure() && r.Certainty == contract.Suspected:
		t.suspected++
	case r.Verdict.Failure():
		t.certain++
		t.byVerdict[r.Verdict]++
	}
}

// write prints the counts.
func (t *tally) write(env *term.Env) {
	p := env.Colors()
	parts := []string{p.Good(fmt.Sprintf("%d clean", t.total-t.certain-t.suspected))}
	for _, v := range contract.Verdicts() {
		if n := t.byVerdict[v]; n > 0 {
			parts = append(parts, p.Bad(fmt.Sprintf("%d %s", n, v)))
		}
	}
	if t.suspected > 0 {
		parts = append(parts, p.Warn(fmt.Sprintf("%d suspected", t.suspected)))
	}
	fmt.Fprintf(env.Out, "\n%d responses: %s\n", t.total, strings.Join(parts, ", "))
}

// writeEvidence prints the evidence for the code of an error, one line each, and marks the one that decided.
func writeEvidence(env *term.Env, evidence []contract.Evidence) {
	p := env.Colors()
	for _, e := range evidence {
		line := fmt.Sprintf("%s %s: %s (%s)", e.Code.Symbol(), e.Kind, term.OneLine(e.Why), e.Strength)
		if e.Decided {
			line = p.Bold("decided by " + line)
		}
		fmt.Fprintf(env.Out, "  %s %s\n", p.Name(term.Pad("why", 6)), line)
	}
}
