package learncmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/learn"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/internal/plural"
)

// report prints findings.
type report struct {
	env     *term.Env
	found   *learn.Findings
	top     int
	dir     []string
	command *learnCommand
}

func printed(server string) string { return cmp.Or(term.Printable(server), "(no name)") }

// text prints the shapes for people.
func (r *report) text() {
	w, p, f := r.env.Out, r.env.Colors(), r.found
	proposed, held := 0, 0
	for i := range f.Shapes {
		if f.Shapes[i].Held == "" {
			proposed++
		} else {
			held++
		}
	}
	fmt.Fprintf(w, "%s: %s proposed, %d held back\n", plural.Of(f.Suspected, "suspected failure"),
		plural.Of(proposed, "rule"), held)
	for _, rest := range []struct {
		n         uint64
		one, many string
	}{
		{f.Covered, "of them matches a rule of the profile", "of them match a rule of the profile"},
		{f.NoRule, "of them has a shape that no rule can describe", "of them have shapes that no rule can describe"},
		{f.Cut, "of them was too long to be recorded whole", "of them were too long to be recorded whole"},
		{
			f.Dropped, "of them has a rare shape beyond the limit of this command; --server, --tool or --since select fewer",
			"of them have rare shapes beyond the limit of this command; --server, --tool or --since select fewer",
		},
	} {
		if rest.n > 0 {
			fmt.Fprintln(w, plural.Count(rest.n, rest.one, rest.many))
		}
	}
	for i := range f.Shapes {
		if r.top > 0 && i == r.top {
			var n uint64
			for _, s := range f.Shapes[i:] {
				n += s.Count
			}
			fmt.Fprintf(w, "\n%s with %s not shown; --top 0 shows all\n", plural.Of(len(f.Shapes)-i, "more shape"), plural.Of(n, "answer"))
			break
		}
		fmt.Fprintln(w)
		writeShape(w, p, &f.Shapes[i])
	}
}

// writeShape prints one shape.
func writeShape(w *term.Output, p term.Colors, s *learn.Shape) {
	fmt.Fprintf(w, "%s  %s  %s: %s, %s\n", p.Bold(s.ID), p.Name(printed(s.Server)), p.Name(term.Printable(s.Tool)),
		plural.Of(s.Count, "answer"), seen(s))
	if s.Held != "" {
		fmt.Fprintf(w, "  held back  %s\n", p.Warn(string(s.Held)))
	}
	fmt.Fprintf(w, "  rule       %s\n", RuleText(&s.Rule))
	fmt.Fprintf(w, "  evidence   %s\n", evidence(s))
	for _, e := range s.Examples {
		fmt.Fprintf(w, "  example    %s %s\n", p.Faint(term.Printable(e.Ref)), term.Printable(e.Text))
	}
	fmt.Fprintf(w, "  change     %s: %s\n", plural.Count(s.Count, "answer would have been a failure", "answers would have been failures"), counts(s.Codes))
}

// seen returns when the answers of a shape were recorded.
func seen(s *learn.Shape) string {
	first, last := ledgercmd.LocalTime(s.First), ledgercmd.LocalTime(s.Last)
	if first == last {
		return first
	}
	return first + " to " + last
}

// RuleText returns the conditions of a rule in one line.
func RuleText(m *profile.Mask) string {
	var parts []string
	if m.Path != "" {
		value := cmp.Or(m.Equals, "any value")
		parts = append(parts, fmt.Sprintf("%s is %s", term.Printable(m.Path), term.Printable(value)))
	}
	if m.Text != "" {
		parts = append(parts, "the text matches "+term.Printable(m.Text))
	}
	if m.Except != "" {
		parts = append(parts, "and not "+term.Printable(m.Except))
	}
	return strings.Join(parts, ", ")
}

// evidence returns what speaks for and against a shape.
func evidence(s *learn.Shape) string {
	parts := []string{plural.Of(s.Calls, "different call")}
	if s.Calls >= learn.MaxCalls {
		parts[0] = "at least " + parts[0]
	}
	if s.Answers < s.Calls {
		parts[0] += fmt.Sprintf(" with %s", plural.Of(s.Answers, "different answer"))
	}
	if len(s.Reasons) > 0 {
		parts = append(parts, "suspected by "+counts(s.Reasons))
	}
	if s.Source != "" {
		parts = append(parts, "content: "+term.Printable(s.Source))
	}
	if s.Flagged > 0 {
		parts = append(parts, plural.Count(s.Flagged, "other failure has isError", "other failures have isError"))
	}
	return strings.Join(parts, "; ")
}

func counts(list []learn.Count) string {
	parts := make([]string, len(list))
	for i, c := range list {
		parts[i] = fmt.Sprintf("%s %d", term.Printable(c.Name), c.N)
	}
	return strings.Join(parts, ", ")
}

// end prints what was written, or how to write.
func (r *report) end(chosen []learn.Shape, done *written) {
	w := r.env.Out
	switch {
	case done != nil:
		fmt.Fprintf(w, "\nWrote %s to %s", plural.Of(done.Added, "rule"), term.Printable(done.File))
		if done.Present > 0 {
			fmt.Fprintf(w, "; %s already", plural.Count(done.Present, "was there", "were there"))
		}
		fmt.Fprintf(w, ".\nUse it: candor wrap --profile %s -- YOUR SERVER, or profile: %[1]s of the upstream in candor.yaml\n", term.Printable(done.File))
	case len(chosen) > 0:
		fmt.Fprintf(w, "\nAccepted %s. Nothing was written; add --write FILE.\n", plural.Of(len(chosen), "rule"))
	case len(r.found.Shapes) > 0 && r.command.write == "":
		fmt.Fprintf(w, "\nNothing was written. To write a profile: candor learn%s --server NAME --accept ID,… --write FILE\n", r.folder())
	case r.command.write != "":
		fmt.Fprintln(w, "\nNo rule was accepted. Nothing was written.")
		if r.command.all && slices.ContainsFunc(r.found.Shapes, func(s learn.Shape) bool { return s.Held != "" }) {
			fmt.Fprintln(w, "A rule that is held back is accepted only by its id: --accept ID")
		}
	}
}

// folder returns the words that name the ledger, as they were given.
func (r *report) folder() string {
	switch {
	case len(r.dir) > 0:
		return " " + term.Printable(r.dir[0])
	case r.command.ledger != "":
		return " --ledger " + term.Printable(r.command.ledger)
	}
	return ""
}

// json prints all shapes; --top does not limit them.
func (r *report) json(chosen []learn.Shape, done *written) error {
	for i := range r.found.Shapes {
		s := &r.found.Shapes[i]
		s.Accepted = slices.ContainsFunc(chosen, func(c learn.Shape) bool { return c.ID == s.ID })
		s.Rule.Tool = profile.Pattern(s.Tool)
	}
	return term.WriteJSONLine(r.env.Out, struct {
		*learn.Findings
		Written *written `json:"written,omitempty"`
	}{r.found, done})
}
