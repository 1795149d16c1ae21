package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// weight is what a rule takes off the score of a tool that breaks it, however often.
func weight(s probe.Severity) int {
	switch s {
	case probe.SeverityCritical:
		return 30
	case probe.SeverityMajor:
		return 10
	case probe.SeverityMinor:
		return 3
	case probe.SeverityInfo:
		return 0
	default:
		return 0
	}
}

// The thresholds of the grades; doc.go says them in words.
const (
	manyMajor       = 4
	severalCritical = 3
	badShare        = 4 // one tool in so many may be bad without the server being so
)

// tally counts the broken rules of one party.
type tally struct {
	critical, major, minor int
	dead                   bool
}

func count(findings []probe.Finding, without map[string]bool) (t tally) {
	for i := range findings {
		if without[findings[i].Rule] {
			continue
		}
		switch findings[i].Severity {
		case probe.SeverityCritical:
			t.critical++
		case probe.SeverityMajor:
			t.major++
		case probe.SeverityMinor:
			t.minor++
		case probe.SeverityInfo:
		}
	}
	return t
}

func (t tally) grade() probe.Grade {
	switch {
	case t.dead || t.critical >= severalCritical:
		return probe.GradeF
	case t.critical > 0 || t.major >= manyMajor:
		return probe.GradeD
	case t.major > 0:
		return probe.GradeC
	case t.minor > 0:
		return probe.GradeB
	default:
		return probe.GradeA
	}
}

func (t tally) score() int {
	if t.dead {
		return 0
	}
	return max(0, 100-t.critical*weight(probe.SeverityCritical)-t.major*weight(probe.SeverityMajor)-t.minor*weight(probe.SeverityMinor))
}

// docket is a party with its findings, ready to be graded.
type docket struct {
	party    *party
	found    []breach
	findings []probe.Finding // one for each of found
	dead     bool            // nothing that was due was answered
	unjudged bool            // nothing failed and nothing was found
}

func (d *docket) tally(without map[string]bool) tally {
	t := count(d.findings, without)
	t.dead = d.dead && !without["EC021"] && !without["EC022"]
	return t
}

var ladder = []probe.Grade{probe.GradeF, probe.GradeD, probe.GradeC, probe.GradeB, probe.GradeA}

// The steps of the ladder that bound a server's grade.
const (
	stepD = 1
	stepC = 2
	stepB = 3
)

// together is the grade and the score of several parties, less the given rules: the mean, rounded, and then bounded, because a mean hides
// what is bad in a few tools. It is "" if nothing could be judged.
func together(dockets []*docket, without map[string]bool) (grade probe.Grade, score int) {
	n, steps, limit := 0, 0, len(ladder)-1
	tools, bad := 0, 0
	for _, d := range dockets {
		if d.unjudged {
			continue
		}
		t := d.tally(without)
		step := slices.Index(ladder, t.grade())
		n++
		steps += step
		score += t.score()
		if d.party.name != "" {
			tools++
			if step <= stepD {
				bad++
			}
		}
		switch {
		case len(dockets) == 1: // a tool by itself has the grade that it has
		case t.critical > 0:
			limit = min(limit, stepC)
		case step <= stepB:
			limit = min(limit, stepB)
		}
	}
	if n == 0 {
		return "", 0
	}
	if len(dockets) > 1 && badShare*bad > tools {
		limit = min(limit, stepD)
	}
	return ladder[min(limit, (2*steps+n)/(2*n))], score / n
}

// maxRaise is how many things to do are listed.
const maxRaise = 5

// raise lists what to mend so that the grade rises, what brings most first, each with the grade that is reached by then.
func raise(dockets []*docket) []string {
	gain, tools, rules := map[string]int{}, map[string]int{}, []string{}
	for _, d := range dockets {
		for i := range d.findings {
			f := &d.findings[i]
			if weight(f.Severity) == 0 {
				continue
			}
			if tools[f.Rule] == 0 {
				rules = append(rules, f.Rule)
			}
			tools[f.Rule]++
			gain[f.Rule] += weight(f.Severity)
		}
	}
	slices.SortFunc(rules, func(a, b string) int { return cmp.Or(cmp.Compare(gain[b], gain[a]), cmp.Compare(a, b)) })
	var out []string
	mended := map[string]bool{}
	for _, id := range rules[:min(len(rules), maxRaise)] {
		mended[id] = true
		grade, score := together(dockets, mended)
		out = append(out, fmt.Sprintf("%s %s: %s%s Then %s (%d).", id, titleOf(id), fixOf(id), breadth(len(dockets), tools[id]), grade, score))
	}
	return out
}

// breadth says how many tools it is about, where there is more than one.
func breadth(parties, tools int) string {
	if parties < 2 {
		return ""
	}
	return fmt.Sprintf(" In %d of %d.", tools, parties)
}

func titleOf(id string) string { return byID(id).Title }
func fixOf(id string) string   { return byID(id).Fix }

func byID(id string) *rule {
	return &all[slices.IndexFunc(all, func(r rule) bool { return r.ID == id })]
}
