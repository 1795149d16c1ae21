package learncmd

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/learn"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
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
	fmt.Fprintf(w, "%s: %s proposed, %d held back\n", term.Count(f.Suspected, "suspected failure", "suspected failures"),
		term.Count(uint64(proposed), "rule", "rules"), held) //nolint:gosec // a count
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
			fmt.Fprintln(w, term.Count(rest.n, rest.one, rest.many))
		}
	}
	for i := range f.Shapes {
		if r.top > 0 && i == r.top {
			var n uint64
			for _, s := range f.Shapes[i:] {
				n += s.Count
			}
			fmt.Fprintf(w, "\n%s with %s not shown; --top 0 shows all\n", term.Count(uint64(len(f.Shapes)-i), "more shape", "more shapes"), term.Count(n, "answer", "answers")) //nolint:gosec // a count
			break
		}
		fmt.Fprintln(w)
		writeShape(w, p, &f.Shapes[i])
	}
}

// writeShape prints one shape.
func writeShape(w *term.Output, p term.Colors, s *learn.Shape) {
	fmt.Fprintf(w, "%s  %s  %s: %s, %s\n", p.Bold(s.ID), p.Name(printed(s.Server)), p.Name(term.Printable(s.Tool)),
		term.Count(s.Count, "answer", "answers"), seen(s))
	if s.Held != "" {
		fmt.Fprintf(w, "  held back  %s\n", p.Warn(string(s.Held)))
	}
	fmt.Fprintf(w, "  rule       %s\n", RuleText(&s.Rule))
	fmt.Fprintf(w, "  evidence   %s\n", evidence(s))
	for _, e := range s.Examples {
		fmt.Fprintf(w, "  example    %s %s\n", p.Faint(term.Printable(e.Ref)), term.Printable(e.Text))
	}
	fmt.Fprintf(w, "  change     %s: %s\n", term.Count(s.Count, "answer would have been a failure", "answers would have been failures"), counts(s.Codes))
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
	parts := []string{term.Count(uint64(s.Calls), "different call", "different calls")} //nolint:gosec // a count
	if s.Calls >= learn.MaxCalls {
		parts[0] = "at least " + parts[0]
	}
	if s.Answers < s.Calls {
		parts[0] += fmt.Sprintf(" with %s", term.Count(uint64(s.Answers), "different answer", "different answers")) //nolint:gosec // a count
	}
	if len(s.Reasons) > 0 {
		parts = append(parts, "suspected by "+counts(s.Reasons))
	}
	if s.Source != "" {
		parts = append(parts, "content: "+term.Printable(s.Source))
	}
	if s.Flagged > 0 {
		parts = append(parts, term.Count(s.Flagged, "other failure has isError", "other failures have isError"))
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
		fmt.Fprintf(w, "\nWrote %s to %s", term.Count(uint64(done.Added), "rule", "rules"), term.Printable(done.File)) //nolint:gosec // a count
		if done.Present > 0 {
			fmt.Fprintf(w, "; %s already", term.Count(uint64(done.Present), "was there", "were there"))
		}
		fmt.Fprintf(w, ".\nUse it: candor wrap --profile %s -- YOUR SERVER, or profile: %[1]s of the upstream in candor.yaml\n", term.Printable(done.File))
	case len(chosen) > 0:
		fmt.Fprintf(w, "\nAccepted %s. Nothing was written; add --write FILE.\n", term.Count(uint64(len(chosen)), "rule", "rules"))
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

// ask asks for each proposal whether to accept it. If the input ends before the last answer, nothing is accepted.
func ask(env *term.Env, found *learn.Findings) (chosen []learn.Shape, err error) {
	in := bufio.NewReader(env.In)
	proposed := slices.DeleteFunc(slices.Clone(found.Shapes), func(s learn.Shape) bool { return s.Held != "" })
	if len(proposed) > 0 {
		fmt.Fprintln(env.Out, "\ny accepts a rule, n or Enter does not, q stops asking. The accepted rules are written at the end; Ctrl-C writes nothing.")
	}
	for _, s := range proposed {
		fmt.Fprintf(env.Out, "\nAccept %s, %s %s: %s? [y/N/q] ", s.ID, printed(s.Server), term.Printable(s.Tool), RuleText(&s.Rule))
		if err := env.Out.Flush(); err != nil {
			return nil, err
		}
		answer, err := in.ReadString('\n')
		if err != nil {
			fmt.Fprintln(env.Out)
			return nil, term.BadInput("answer each question, or use --accept ID or --all", "the input ended before the last answer; nothing was written")
		}
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			chosen = append(chosen, s)
		case "q", "quit":
			return chosen, nil
		}
	}
	return chosen, nil
}

// jsonShape is a shape in the output of --json.
type jsonShape struct {
	ID       string          `json:"id"`
	Server   string          `json:"server"`
	Tool     string          `json:"tool"`
	Held     string          `json:"held,omitempty"`
	Accepted bool            `json:"accepted"`
	Answers  uint64          `json:"answers"`
	Calls    int             `json:"calls"`
	Distinct int             `json:"distinct_answers"`
	First    time.Time       `json:"first"`
	Last     time.Time       `json:"last"`
	Rule     jsonRule        `json:"rule"`
	Codes    []learn.Count   `json:"codes"`
	Reasons  []learn.Count   `json:"reasons"`
	Source   string          `json:"source,omitempty"`
	Flagged  uint64          `json:"flagged"`
	Examples []learn.Example `json:"examples"`
}

// jsonRule is a mask as a profile writes it.
type jsonRule struct {
	Tool      string `json:"tool"`
	Path      string `json:"path,omitempty"`
	Equals    string `json:"equals,omitempty"` // JSON text
	Text      string `json:"text,omitempty"`
	Except    string `json:"except,omitempty"`
	Suspected bool   `json:"suspected"`
}

// json prints all shapes; --top does not limit them.
func (r *report) json(chosen []learn.Shape, done *written, skipped uint64) error {
	accepted := map[string]bool{}
	for _, s := range chosen {
		accepted[s.ID] = true
	}
	shapes := make([]jsonShape, len(r.found.Shapes))
	for i, s := range r.found.Shapes {
		shapes[i] = jsonShape{
			ID: s.ID, Server: s.Server, Tool: s.Tool, Held: string(s.Held), Accepted: accepted[s.ID], Answers: s.Count, Calls: s.Calls, Distinct: s.Answers, First: s.First, Last: s.Last,
			Rule:  jsonRule{Tool: profile.Pattern(s.Tool), Path: s.Rule.Path, Equals: s.Rule.Equals, Text: s.Rule.Text, Except: s.Rule.Except, Suspected: s.Rule.Suspected},
			Codes: s.Codes, Reasons: s.Reasons, Source: s.Source, Flagged: s.Flagged, Examples: s.Examples,
		}
	}
	f := r.found
	return term.WriteJSONLine(r.env.Out, struct {
		Suspected uint64      `json:"suspected"`
		Covered   uint64      `json:"covered"`
		NoRule    uint64      `json:"no_rule"`
		Cut       uint64      `json:"cut"`
		Dropped   uint64      `json:"dropped"`
		Skipped   uint64      `json:"skipped"` // malformed lines of the ledger
		Shapes    []jsonShape `json:"shapes"`
		Written   *written    `json:"written,omitempty"`
	}{f.Suspected, f.Covered, f.NoRule, f.Cut, f.Dropped, skipped, shapes, done})
}
