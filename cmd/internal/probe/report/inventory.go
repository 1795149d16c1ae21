package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/internal/probe"
)

// patternView is the presentation of a pattern.
type patternView struct {
	Pattern probe.Pattern
	Short   string // column head
	About   string
	Honest  bool // a client can see the failure
}

// patterns lists the patterns in the order of all outputs, the best for a client first.
var patterns = []patternView{
	{probe.PatternStructured, "struct", "isError with structured content", true},
	{probe.PatternA, "A", "isError with {ok:false, error}", true},
	{probe.PatternJSON, "json", "isError with JSON in its text", true},
	{probe.PatternRPC, "rpc", "a JSON-RPC error", true},
	{probe.PatternText, "text", "isError with prose", true},
	{probe.PatternB, "B", "a success whose data is {ok:false, error}", false},
	{probe.PatternMaskedJSON, "m-json", "a success whose JSON reports a failure", false},
	{probe.PatternMaskedText, "m-text", "a success whose text reports a failure", false},
	{probe.PatternGarbage, "garbage", "garbage of the upstream, passed on as a result", false},
	{probe.PatternSilent, "silent", "a success that does not mention the failure", false},
	{probe.PatternNoAnswer, "none", "no answer", false},
}

// row is a row of the inventory. Its texts are [plain].
type row struct {
	Tool, Label string // Tool is the name from the server, Label is for people
	Grade       probe.Grade
	Style       string // A, B, both, or another word for its patterns
	Counts      []int  // for each of patterns
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

// protocolLabel is the label of the cases that do not belong to a tool. A tool with the same name has a separate row.
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
		Raise: plainAll(t.Raise), Style: style(t.Patterns),
	}
	for i, p := range patterns {
		out.Counts[i] = max(t.Patterns[p.Pattern], 0)
	}
	return out
}

// style returns the word for a tool's patterns: that of the dual-envelope documents, or the nearest. JSON-RPC errors beside other patterns do
// not change it, because the protocol requires them for malformed calls.
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

// breakdown returns the counts of a row as a list.
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

// tally counts findings by severity, in the order of [probe.Severities].
func tally(findings []probe.Finding) []int {
	out := make([]int, len(probe.Severities))
	for i := range findings {
		if n := findings[i].Severity.Rank(); n < len(out) {
			out[n]++
		}
	}
	return out
}

// tallyText returns a text such as "2 critical, 1 minor".
func tallyText(findings []probe.Finding) string {
	var out []string
	for i, n := range tally(findings) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, probe.Severities[i]))
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// place returns the location of a finding: tool and field, or the server.
func place(f *probe.Finding) string {
	where := cmp.Or(plain(f.Tool), "the server")
	if len(f.Tools) > 0 {
		where = plural.Of(len(f.Tools), "tool")
	}
	if f.Field != "" {
		where += " " + plain(f.Field)
	}
	return where
}

// rulesByID returns the rules by id, the first of duplicates.
func rulesByID(r *probe.Report) map[string]*probe.Rule {
	out := make(map[string]*probe.Rule, len(r.Applied))
	for i := range r.Applied {
		if id := r.Applied[i].ID; out[id] == nil {
			out[id] = &r.Applied[i]
		}
	}
	return out
}

// gradeOf returns a grade, "?" for none or an unknown one.
func gradeOf(g probe.Grade) probe.Grade {
	if slices.Contains(probe.Grades, g) {
		return g
	}
	return "?"
}

func list(parts []string, between string) string {
	return orDash(strings.Join(plainAll(parts), between))
}

func orDash(s string) string { return cmp.Or(plain(s), "–") }

// noAnswer is shown instead of a missing response.
const noAnswer = "(no answer)"

// nextCommands returns commands for the next steps. They have no text of the report, so that no text of a server gets into a shell.
func nextCommands(r *probe.Report) [][2]string {
	out := [][2]string{{"candor probe --format html --out report.html …", "write a web page with all evidence"}}
	if slices.ContainsFunc(r.Findings, func(f probe.Finding) bool { return f.Outside }) {
		out = append(out,
			[2]string{"candor probe --profile-out profile.yaml …", "write gateway rules for what can be fixed without the server"},
			[2]string{"candor wrap --profile profile.yaml -- …", "run the server with these rules"})
	}
	return append(out, [2]string{"candor probe --format json --out before.json …", "save a baseline; --baseline before.json then fails on regressions"})
}
