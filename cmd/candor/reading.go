package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// writeReading prints one verdict for people: a line if the answer is clean, else a small block.
func writeReading(w *world, r contract.Reading, at string) {
	p := w.paint()
	fmt.Fprintf(w.out, "%s: %s\n", at, verdictWords(p, r.Conclusion))
	if r.Error != nil {
		writeCard(w.out, p, r.Error, "  ")
	}
	for _, v := range r.Violations {
		fmt.Fprintf(w.out, "  %s %s (%s)\n", p.warn(pad("note", 6)), v.Message, v.Rule)
	}
}

func verdictWords(p paint, c contract.Conclusion) string {
	if !c.Verdict.Failure() {
		return p.good(string(c.Verdict))
	}
	if c.Certainty == contract.Suspected {
		return p.warn(string(c.Verdict)) + p.faint(fmt.Sprintf(", suspected (%s, confidence %.2f)", c.Rule, c.Confidence))
	}
	return p.bad(string(c.Verdict)) + p.faint(fmt.Sprintf(" (%s)", c.Rule))
}

// writeCard prints an error for people: what it is, what failed, and what to do.
func writeCard(out io.Writer, p paint, e *candor.Error, indent string) {
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "%s%s %s\n", indent, p.name(pad(name, 6)), oneLine(text))
		}
	}
	row("code", p.bold(e.Code().Symbol())+" "+p.faint(fmt.Sprintf("(%s %d)", e.Code().Domain(), e.Code().Number())))
	row("says", e.Message())
	row("class", string(e.Class())+": "+classWords(e.Class()))
	row("retry", retryWords(e.Retry()))
	for _, issue := range e.Details().Issues() {
		row("field", issueWords(issue))
	}
	row("do", e.Suggestion())
	row("ref", e.Ref())
}

func issueWords(i candor.Issue) string {
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

// write prints the summary that a person wants at the end.
func (t *tally) write(w *world) {
	p := w.paint()
	parts := []string{p.good(fmt.Sprintf("%d clean", t.total-t.certain-t.suspected))}
	for _, v := range contract.Verdicts() {
		if n := t.byVerdict[v]; n > 0 {
			parts = append(parts, p.bad(fmt.Sprintf("%d %s", n, v)))
		}
	}
	if t.suspected > 0 {
		parts = append(parts, p.warn(fmt.Sprintf("%d suspected", t.suspected)))
	}
	fmt.Fprintf(w.out, "\n%d answers: %s\n", t.total, strings.Join(parts, ", "))
}
