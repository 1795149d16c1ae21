package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// patternView is how a pattern is shown.
type patternView struct {
	Pattern probe.Pattern
	Short   string // the head of a column
	About   string
	Honest  bool // a client can see that it is a failure
}

// patterns is the order of the patterns everywhere: what serves a client best first.
var patterns = []patternView{
	{probe.PatternStructured, "struct", "isError with structured content", true},
	{probe.PatternA, "A", "isError with {ok:false, error}", true},
	{probe.PatternJSON, "json", "isError with JSON in its text", true},
	{probe.PatternRPC, "rpc", "a JSON-RPC error", true},
	{probe.PatternText, "text", "isError with prose", true},
	{probe.PatternB, "B", "a success whose data is {ok:false, error}", false},
	{probe.PatternMaskedJSON, "m-json", "a success whose JSON tells of a failure", false},
	{probe.PatternMaskedText, "m-text", "a success whose prose tells of a failure", false},
	{probe.PatternGarbage, "garbage", "what the upstream answered, passed on as a result", false},
	{probe.PatternSilent, "silent", "a success that says nothing of the failure", false},
	{probe.PatternNoAnswer, "none", "no answer at all", false},
}

// row is a line of the inventory. All of it is plain.
type row struct {
	Tool, Label string // Tool is as the server says it, Label for people
	Grade       probe.Grade
	Style       string // A, B, both, or how else it tells of its failures
	Counts      []int  // of each of patterns
	Kinds       string
	Codes       string
	Retry       string
	Field       string
	Cases       int
	Failures    int
	Leaks       int
	Findings    int
	Raise       []string
	Skipped     string
}

// protocolLabel stands for the cases that belong to no tool. No tool can have this name unless it wants to be taken for it, and then it
// still has a row of its own.
const protocolLabel = "(protocol)"

// inventory returns the rows of a report: the tools in its order, then the protocol.
func inventory(r *probe.Report) []row {
	rows := make([]row, 0, len(r.Tools)+1)
	for i := range r.Tools {
		rows = append(rows, rowOf(&r.Tools[i], plain(r.Tools[i].Tool)))
	}
	if r.Protocol.Cases > 0 || r.Protocol.Findings > 0 {
		rows = append(rows, rowOf(&r.Protocol, protocolLabel))
	}
	return rows
}

func rowOf(t *probe.ToolReport, label string) row {
	out := row{
		Tool: t.Tool, Label: label, Grade: gradeOf(t.Grade), Counts: make([]int, len(patterns)),
		Kinds: list(t.Kinds, ", "), Codes: list(t.Codes, ", "), Retry: orDash(t.Retry), Field: orDash(t.Field),
		Cases: t.Cases, Failures: t.Failures, Leaks: t.Leaks, Findings: t.Findings, Skipped: plain(t.Skipped),
	}
	for i, p := range patterns {
		out.Counts[i] = max(t.Patterns[p.Pattern], 0)
	}
	for _, raise := range t.Raise {
		out.Raise = append(out.Raise, plain(raise))
	}
	out.Style = style(t.Patterns)
	return out
}

// style is the word for a tool in the inventory of the dual-envelope documents, and the nearest to it where that has none. JSON-RPC errors
// beside one of its patterns are the protocol's, and do not change the word.
func style(counts map[probe.Pattern]int) string {
	var seen, others []string
	for _, p := range patterns {
		if counts[p.Pattern] > 0 {
			seen = append(seen, p.Short)
			if p.Pattern != probe.PatternRPC {
				others = append(others, p.Short)
			}
		}
	}
	switch {
	case counts[probe.PatternA] > 0 && counts[probe.PatternB] > 0:
		return "both"
	case len(seen) == 0:
		return "–"
	case len(seen) == 1:
		return seen[0]
	case len(others) == 1 && (others[0] == "A" || others[0] == "B"):
		return others[0]
	}
	return "mixed"
}

// breakdown writes the counts of a row as a list.
func (r *row) breakdown() string {
	var out []string
	for i, n := range r.Counts {
		if n > 0 {
			out = append(out, fmt.Sprintf("%s:%d", patterns[i].Short, n))
		}
	}
	return list(out, " ")
}

// used returns the indexes of the patterns that occur in any of the rows.
func used(rows []row) []int {
	var out []int
	for i := range patterns {
		if slices.ContainsFunc(rows, func(r row) bool { return r.Counts[i] > 0 }) {
			out = append(out, i)
		}
	}
	return out
}

// inOrder returns the findings, the worst first, then by rule, tool and field; the report's own order breaks ties.
func inOrder(findings []probe.Finding) []probe.Finding {
	out := slices.Clone(findings)
	slices.SortStableFunc(out, func(a, b probe.Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)), cmp.Compare(a.Rule, b.Rule), cmp.Compare(len(b.Tools), len(a.Tools)), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Field, b.Field))
	})
	return out
}

// tally counts findings by severity, in the order of severities.
func tally(findings []probe.Finding) []int {
	out := make([]int, len(severities))
	for i := range findings {
		if n := rank(findings[i].Severity); n < len(out) {
			out[n]++
		}
	}
	return out
}

// tallyText is as in "2 critical, 1 minor".
func tallyText(findings []probe.Finding) string {
	var out []string
	for i, n := range tally(findings) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, severities[i]))
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// place says where a finding is: tool and field, or the server.
func place(f *probe.Finding) string {
	where := plain(f.Tool)
	switch {
	case len(f.Tools) > 0:
		where = plural(len(f.Tools), "tool")
	case where == "":
		where = "the server"
	}
	if f.Field != "" {
		where += " " + plain(f.Field)
	}
	return where
}

// rulesByID returns the rules by id, the first of a name.
func rulesByID(r *probe.Report) map[string]*probe.Rule {
	out := make(map[string]*probe.Rule, len(r.Applied))
	for i := range r.Applied {
		if id := r.Applied[i].ID; out[id] == nil {
			out[id] = &r.Applied[i]
		}
	}
	return out
}

// gradeOf is a grade, or a question mark for what is none.
func gradeOf(g probe.Grade) probe.Grade {
	if slices.Contains(grades, g) {
		return g
	}
	return "?"
}

// grades is the best first.
var grades = []probe.Grade{probe.GradeA, probe.GradeB, probe.GradeC, probe.GradeD, probe.GradeF}

func list(parts []string, between string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = plain(p)
	}
	return orDash(strings.Join(out, between))
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return plain(s)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// nextCommands are what a reader may do now. They name no part of the report, so that nothing of a server gets into a shell.
func nextCommands(r *probe.Report) [][2]string {
	out := [][2]string{{"candor probe --format html --out report.html …", "the same as a page, with all evidence"}}
	if slices.ContainsFunc(r.Findings, func(f probe.Finding) bool { return f.Outside }) {
		out = append(out,
			[2]string{"candor probe --profile-out profile.yaml …", "what the gateway can mend without touching the server"},
			[2]string{"candor wrap --profile profile.yaml -- …", "the server, mended"})
	}
	return append(out, [2]string{"candor probe --format json --out before.json …", "keep this; later --baseline before.json fails on what got worse"})
}
