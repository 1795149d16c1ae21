package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
)

// Delta is the difference between two reports on a server. Its lists are sorted, the worst first and then by name.
type Delta struct {
	Version int      `json:"version"` // 1
	Before  Side     `json:"before"`
	After   Side     `json:"after"`
	Notes   []string `json:"notes"` // why the reports may not be comparable: other server, rules or seed, or an incomplete run

	// NewRules are rules that the first report did not have in the same rule set. Their findings are in New, but do not make the result worse,
	// because the server may have had them before.
	NewRules []string `json:"new_rules"`

	New    []probe.Finding `json:"new"`    // new findings, by [probe.Finding.Key]
	Gone   []probe.Finding `json:"gone"`   // fixed findings
	Harder []Shift         `json:"harder"` // findings with a higher severity
	Softer []Shift         `json:"softer"` // findings with a lower severity
	Same   int             `json:"same"`   // number of unchanged findings

	Fell  []Step   `json:"fell"`  // tools and server with a lower grade
	Rose  []Step   `json:"rose"`  // tools and server with a higher grade
	Added []string `json:"added"` // new tools; their findings are in New
	Lost  []string `json:"lost"`  // removed tools; their findings are in Gone
}

// DeltaVersion is the version of the [Delta] format.
const DeltaVersion = 1

// Side identifies one of the two reports.
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
	Finding probe.Finding  `json:"finding"` // in the second report
	Before  probe.Severity `json:"before"`
}

// Diff compares two reports on the same server. It changes neither, and the delta shares their evidence; nil is an
// empty report. If the two are not fully comparable, Notes has the reasons.
func Diff(before, after *probe.Report) *Delta {
	if before == nil {
		before = &probe.Report{}
	}
	if after == nil {
		after = &probe.Report{}
	}
	d := &Delta{
		Version: DeltaVersion, Before: sideOf(before), After: sideOf(after), Notes: []string{},
		NewRules: []string{}, New: []probe.Finding{}, Gone: []probe.Finding{}, Harder: []Shift{}, Softer: []Shift{},
		Fell: []Step{}, Rose: []Step{}, Added: []string{}, Lost: []string{},
	}
	d.compareRuns(before, after)
	d.compareFindings(before, after)
	d.compareTools(before, after)
	return d
}

// Worse reports whether the result got worse: a finding is new or more severe, a grade fell, or a tool was removed. Findings with the severity
// info and those of [Delta.NewRules] do not count. It decides whether a build fails against a baseline.
func (d *Delta) Worse() bool {
	mild := map[string]bool{} // tools with findings of new rules
	weighs := func(f probe.Finding) bool {
		if slices.Contains(d.NewRules, f.Rule) {
			for _, one := range f.Split() {
				mild[one.Tool] = true
			}
			mild[""] = true
			return false
		}
		return f.Severity != probe.SeverityInfo
	}
	worse := len(d.Harder) > 0 || len(d.Lost) > 0
	for _, f := range d.New {
		worse = weighs(f) || worse
	}
	return worse || slices.ContainsFunc(d.Fell, func(s Step) bool { return !mild[strings.TrimPrefix(s.Tool, protocolStep)] })
}

// Better reports whether the result improved and nothing got worse.
func (d *Delta) Better() bool {
	return !d.Worse() && len(d.Gone)+len(d.Softer)+len(d.Rose) > 0
}

func sideOf(r *probe.Report) Side {
	return Side{
		Server: r.Server.Name, Version: r.Server.Version, Rules: r.Rules, Seed: r.Seed, Grade: r.Grade,
		Tools: len(r.Tools), Findings: len(r.Findings),
	}
}

func (d *Delta) compareRuns(before, after *probe.Report) {
	note := func(differ bool, format string, args ...any) {
		if differ {
			d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
		}
	}
	note(before.Server.Name != after.Server.Name, "the servers have different names: %q and %q", plain(before.Server.Name), plain(after.Server.Name))
	note(before.Rules != after.Rules, "the rule sets differ: %q and %q", plain(before.Rules), plain(after.Rules))
	note(before.Seed != after.Seed, "the seeds differ: %d and %d", before.Seed, after.Seed)
	note(before.Incomplete != "", "the first run is incomplete: %s", plain(before.Incomplete))
	note(after.Incomplete != "", "the second run is incomplete: %s", plain(after.Incomplete))
	var only []string
	known := rulesByID(before)
	for _, rule := range after.Applied {
		if known[rule.ID] == nil {
			only = append(only, rule.ID)
		}
	}
	note(len(only) > 0 && len(before.Applied) > 0, "rules that the first report did not apply: %s", list(only, ", "))
	if len(before.Applied) > 0 && before.Rules == after.Rules {
		d.NewRules = append(d.NewRules, only...)
	}
}

// compareFindings compares tool by tool: a finding of several tools is new for those that did not show it before.
func (d *Delta) compareFindings(before, after *probe.Report) {
	was, is := byKey(before.Findings), byKey(after.Findings)
	for _, f := range probe.Sorted(after.Findings) {
		var fresh []string
		for _, one := range f.Split() {
			old, found := was[one.Key()]
			if !found {
				old, found = was[widened(one)]
			}
			switch {
			case is[one.Key()].Severity != one.Severity: // duplicate key: the worst one counts
			case !found:
				fresh = append(fresh, one.Tool)
			case f.Severity.Rank() < old.Severity.Rank():
				d.Harder = append(d.Harder, Shift{one, old.Severity})
			case f.Severity.Rank() > old.Severity.Rank():
				d.Softer = append(d.Softer, Shift{one, old.Severity})
			default:
				d.Same++
			}
		}
		if len(fresh) > 0 {
			d.New = append(d.New, of(f, fresh))
		}
	}
	left := map[string]bool{} // findings about several fields of which some remain
	for _, f := range after.Findings {
		for _, one := range f.Split() {
			left[widened(one)] = true
		}
	}
	for _, f := range probe.Sorted(before.Findings) {
		var gone []string
		for _, one := range f.Split() {
			if _, found := is[one.Key()]; !found && (f.Field != "" || !left[one.Key()]) {
				gone = append(gone, one.Tool)
			}
		}
		if len(gone) > 0 {
			d.Gone = append(d.Gone, of(f, gone))
		}
	}
}

// of returns the finding for some of its tools.
func of(f probe.Finding, tools []string) probe.Finding {
	if len(f.Tools) > 0 {
		f.Tools = tools
	}
	return f
}

// widened returns the key of the same finding about several fields: fixing the other fields does not make this finding new.
func widened(f probe.Finding) string {
	f.Field = ""
	return f.Key()
}

// byKey returns the worst finding of each key.
func byKey(findings []probe.Finding) map[string]probe.Finding {
	out := make(map[string]probe.Finding, len(findings))
	for _, f := range probe.Sorted(findings) {
		for _, one := range f.Split() {
			if _, found := out[one.Key()]; !found {
				out[one.Key()] = one
			}
		}
	}
	return out
}

// protocolStep is the name of the protocol among changed grades.
const protocolStep = protocolLabel

func (d *Delta) compareTools(before, after *probe.Report) {
	d.step("", before.Grade, after.Grade)
	was := gradesByTool(before)
	is := gradesByTool(after)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if old, found := was[name]; found {
			d.step(name, old, is[name])
		} else {
			d.Added = append(d.Added, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, found := is[name]; !found {
			d.Lost = append(d.Lost, name)
		}
	}
	d.step(protocolStep, before.Protocol.Grade, after.Protocol.Grade)
}

// step records a change of grade. A missing grade is not compared.
func (d *Delta) step(tool string, before, after probe.Grade) {
	was, is := slices.Index(probe.Grades, before), slices.Index(probe.Grades, after)
	if was < 0 || is < 0 {
		return
	}
	switch cmp.Compare(is, was) {
	case 1:
		d.Fell = append(d.Fell, Step{tool, before, after})
	case -1:
		d.Rose = append(d.Rose, Step{tool, before, after})
	}
}

func gradesByTool(r *probe.Report) map[string]probe.Grade {
	out := make(map[string]probe.Grade, len(r.Tools))
	for _, t := range r.Tools {
		out[t.Tool] = t.Grade
	}
	return out
}
