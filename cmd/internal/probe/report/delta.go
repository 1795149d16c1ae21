package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// Delta is what changed from one report on a server to a later one. Everything in it is in order: the worst first, then by name.
type Delta struct {
	Version int      `json:"version"` // 1
	Before  Side     `json:"before"`
	After   Side     `json:"after"`
	Notes   []string `json:"notes"` // why the two may not be comparable: other server, rules or seed, or a run that is not complete

	// NewRules are those that the report before did not know, though it was made by the same rule set. What only they find, the server may have
	// done all along: it is among New, and makes nothing worse.
	NewRules []string `json:"new_rules"`

	New    []probe.Finding `json:"new"`    // findings that were not there before, by [probe.Finding.Key]
	Gone   []probe.Finding `json:"gone"`   // findings that are not there any more
	Harder []Shift         `json:"harder"` // findings in both, of a higher severity now
	Softer []Shift         `json:"softer"` // findings in both, of a lower severity now
	Same   int             `json:"same"`   // findings in both, as severe as before

	Fell  []Step   `json:"fell"`  // tools, and the server, whose grade fell
	Rose  []Step   `json:"rose"`  // and those whose grade rose
	Added []string `json:"added"` // tools that were not there before; their findings are among New
	Lost  []string `json:"lost"`  // tools that are not there any more; their findings are among Gone
}

// DeltaVersion is the version of the form of a [Delta].
const DeltaVersion = 1

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

// Diff compares two reports on the same server. Neither is changed, and the delta shares their findings' evidence; nil counts as an empty
// report. Where the two cannot be compared well, Notes say why, and the rest holds what can be said.
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

// Worse reports whether something got worse: a finding is new or weighs more, a grade fell, or a tool is gone. Findings that are only worth
// knowing do not count, nor do those of [Delta.NewRules]. It is what fails a build against a baseline.
func (d *Delta) Worse() bool {
	mild := map[string]bool{} // tools with findings of rules that are new
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

// Better reports whether something got better, and nothing worse.
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
	note(before.Rules != after.Rules, "they were judged by different rules: %q and %q", plain(before.Rules), plain(after.Rules))
	note(before.Seed != after.Seed, "they were made with different seeds: %d and %d", before.Seed, after.Seed)
	note(before.Incomplete != "", "the run before is not complete: %s", plain(before.Incomplete))
	note(after.Incomplete != "", "the run after is not complete: %s", plain(after.Incomplete))
	var only []string
	known := rulesByID(before)
	for _, rule := range after.Applied {
		if known[rule.ID] == nil {
			only = append(only, rule.ID)
		}
	}
	note(len(only) > 0 && len(before.Applied) > 0, "rules that were not applied before: %s", list(only, ", "))
	if len(before.Applied) > 0 && before.Rules == after.Rules {
		d.NewRules = append(d.NewRules, only...)
	}
}

// compareFindings compares tool by tool: a finding of several tools is new for those that did not show it before.
func (d *Delta) compareFindings(before, after *probe.Report) {
	was, is := byKey(before.Findings), byKey(after.Findings)
	for _, f := range inOrder(after.Findings) {
		var fresh []string
		for _, one := range f.Split() {
			old, found := was[one.Key()]
			if !found {
				old, found = was[widened(one)]
			}
			switch {
			case is[one.Key()].Severity != one.Severity: // the same key twice: the first and worst speaks for it
			case !found:
				fresh = append(fresh, one.Tool)
			case rank(f.Severity) < rank(old.Severity):
				d.Harder = append(d.Harder, Shift{one, old.Severity})
			case rank(f.Severity) > rank(old.Severity):
				d.Softer = append(d.Softer, Shift{one, old.Severity})
			default:
				d.Same++
			}
		}
		if len(fresh) > 0 {
			d.New = append(d.New, of(f, fresh))
		}
	}
	left := map[string]bool{} // of what was about several fields, something is there still
	for _, f := range after.Findings {
		for _, one := range f.Split() {
			left[widened(one)] = true
		}
	}
	for _, f := range inOrder(before.Findings) {
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

// of is the finding for some of its tools.
func of(f probe.Finding, tools []string) probe.Finding {
	if len(f.Tools) > 0 {
		f.Tools = tools
	}
	return f
}

// widened is the key of a finding that is about several fields of which this one is about one: mending the others makes nothing new.
func widened(f probe.Finding) string {
	f.Field = ""
	return f.Key()
}

// byKey returns the worst finding of each key.
func byKey(findings []probe.Finding) map[string]probe.Finding {
	out := make(map[string]probe.Finding, len(findings))
	for _, f := range inOrder(findings) {
		for _, one := range f.Split() {
			if _, found := out[one.Key()]; !found {
				out[one.Key()] = one
			}
		}
	}
	return out
}

// protocolStep stands for the protocol among grades that changed.
const protocolStep = protocolLabel

func (d *Delta) compareTools(before, after *probe.Report) {
	d.step("", before.Grade, after.Grade)
	was := gradesByTool(before)
	is := gradesByTool(after)
	for _, name := range sortedNames(after) {
		if old, found := was[name]; found {
			d.step(name, old, is[name])
		} else {
			d.Added = append(d.Added, name)
		}
	}
	for _, name := range sortedNames(before) {
		if _, found := is[name]; !found {
			d.Lost = append(d.Lost, name)
		}
	}
	d.step(protocolStep, before.Protocol.Grade, after.Protocol.Grade)
}

// step notes a change of grade. A grade that is none, as of a report without cases of the protocol, is not compared.
func (d *Delta) step(tool string, before, after probe.Grade) {
	was, is := slices.Index(grades, before), slices.Index(grades, after)
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

func sortedNames(r *probe.Report) []string {
	var out []string
	for _, t := range r.Tools {
		out = append(out, t.Tool)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
