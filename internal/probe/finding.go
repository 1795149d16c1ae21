package probe

import (
	"cmp"
	"slices"
	"strings"
)

// Severity is how much a finding matters to a caller of the server.
type Severity string

// The severities, the worst first.
const (
	SeverityCritical Severity = "critical" // misleads an agent: a failure looks like a success, a secret leaks, the server ends
	SeverityMajor    Severity = "major"    // gives an agent no next step: no code, no field, no retry advice
	SeverityMinor    Severity = "minor"    // costs an agent extra effort
	SeverityInfo     Severity = "info"     // for information; does not count for the grade
)

// Severities lists the severities, the worst first.
var Severities = []Severity{SeverityCritical, SeverityMajor, SeverityMinor, SeverityInfo}

// Rank returns the position of s in [Severities]; an unknown severity comes last.
func (s Severity) Rank() int {
	if i := slices.Index(Severities, s); i >= 0 {
		return i
	}
	return len(Severities)
}

// Rule describes one check. The checks themselves are in package judge.
type Rule struct {
	ID       string   `json:"id"` // stable, as in EC001
	Title    string   `json:"title"`
	Reason   string   `json:"reason"` // why it matters, with measurements if there are any
	Clause   string   `json:"clause"` // clause of a specification, or evidence
	Fix      string   `json:"fix"`
	Severity Severity `json:"severity"`
	Sets     []string `json:"sets"`    // rule sets that include it
	Outside  bool     `json:"outside"` // the gateway can fix it without a change to the server
}

// Evidence is the exchange of a case, with secrets removed and long texts truncated.
type Evidence struct {
	Case     string `json:"case"` // [Case.Key]
	Request  string `json:"request"`
	Response string `json:"response"`
}

// Finding is a rule that a server breaks, with evidence.
type Finding struct {
	Rule     string     `json:"rule"`
	Severity Severity   `json:"severity"`
	Tool     string     `json:"tool,omitempty"`  // "" for the server as a whole, or if Tools is set
	Tools    []string   `json:"tools,omitempty"` // all affected tools, if several fail with the same text for the same reason
	Field    string     `json:"field,omitempty"`
	Message  string     `json:"message"` // one sentence, about this tool
	Fix      string     `json:"fix"`
	Outside  bool       `json:"outside"`
	Count    int        `json:"count"` // number of cases that show it
	Evidence []Evidence `json:"evidence"`
}

// Sorted returns the findings sorted by severity, the worst first, then by rule, tool and field.
func Sorted(findings []Finding) []Finding {
	out := slices.Clone(findings)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(a.Rule, b.Rule), cmp.Compare(len(b.Tools), len(a.Tools)), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Field, b.Field))
	})
	return out
}

// Key identifies a finding in all reports on the same server, for baselines and for muting.
func (f *Finding) Key() string {
	return f.Rule + "/" + strings.Join(f.where(), ",") + "/" + f.Field
}

// Split returns a separate finding for each of its tools.
func (f *Finding) Split() []Finding {
	var out []Finding
	for _, tool := range f.where() {
		one := *f
		one.Tool, one.Tools = tool, nil
		out = append(out, one)
	}
	return out
}

// where returns the affected tools, a single "" for the server as a whole.
func (f *Finding) where() []string {
	if len(f.Tools) > 0 {
		return f.Tools
	}
	return []string{f.Tool}
}
