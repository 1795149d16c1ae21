package probe

import "strings"

// Severity is how much a finding matters to whoever calls the server.
type Severity string

// The severities, the worst first.
const (
	SeverityCritical Severity = "critical" // an agent is misled: a failure looks like a success, a secret leaks, the server dies
	SeverityMajor    Severity = "major"    // an agent cannot tell what to do: no code, no field, no retry advice
	SeverityMinor    Severity = "minor"    // an agent manages, with more effort than needed
	SeverityInfo     Severity = "info"     // worth knowing
)

// Rule is one thing that is judged. Rules are data; what finds them is in room judge.
type Rule struct {
	ID       string   `json:"id"` // stable, as in EC001
	Title    string   `json:"title"`
	Reason   string   `json:"reason"` // why it matters, with what was measured where there is something
	Clause   string   `json:"clause"` // of which specification, or the evidence
	Fix      string   `json:"fix"`
	Severity Severity `json:"severity"`
	Sets     []string `json:"sets"`    // the rule sets that it belongs to
	Outside  bool     `json:"outside"` // the gateway can mend it without touching the server
}

// Evidence is literal, but for secrets and length.
type Evidence struct {
	Case     string `json:"case"` // [Case.Key]
	Request  string `json:"request"`
	Response string `json:"response"`
}

// Finding is something that is wrong with a server, shown.
type Finding struct {
	Rule     string     `json:"rule"`
	Severity Severity   `json:"severity"`
	Tool     string     `json:"tool,omitempty"`  // "" for the server as a whole, or if there are Tools
	Tools    []string   `json:"tools,omitempty"` // those that show it, where several do for one cause: they answer in the same words
	Field    string     `json:"field,omitempty"`
	Message  string     `json:"message"` // one sentence, about this tool
	Fix      string     `json:"fix"`
	Outside  bool       `json:"outside"`
	Count    int        `json:"count"` // how many cases show it
	Evidence []Evidence `json:"evidence"`
}

// Key names a finding in any report on the same server, for baselines and for people who mute one.
func (f *Finding) Key() string {
	return f.Rule + "/" + strings.Join(f.where(), ",") + "/" + f.Field
}

// Split returns the finding as one for each of its tools.
func (f *Finding) Split() []Finding {
	var out []Finding
	for _, tool := range f.where() {
		one := *f
		one.Tool, one.Tools = tool, nil
		out = append(out, one)
	}
	return out
}

// where are the tools that it is about, "" alone for the server as a whole.
func (f *Finding) where() []string {
	if len(f.Tools) > 0 {
		return f.Tools
	}
	return []string{f.Tool}
}
