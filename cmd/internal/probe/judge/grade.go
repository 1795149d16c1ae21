package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// weight returns the points that a tool loses for breaking a rule, regardless of how often it does.
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

// The thresholds of the grades; the package comment explains them.
const (
	manyMajor       = 4
	severalCritical = 3
	badShare        = 4 // more than one bad tool in badShare limits the grade of the server to D
)

// tally counts the broken rules of one subject.
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

// assessment is a subject with its findings, to be graded.
type assessment struct {
	subject  *subject
	found    []violation
	findings []probe.Finding // one for each of found
	dead     bool            // no case that needed an answer got one
	unjudged bool            // no case failed, and there is no finding
}

func (d *assessment) tally(without map[string]bool) tally {
	t := count(d.findings, without)
	t.dead = d.dead && !without["EC021"] && !without["EC022"]
	return t
}

var grades = []probe.Grade{probe.GradeF, probe.GradeD, probe.GradeC, probe.GradeB, probe.GradeA}

// The indexes in grades that limit a server's grade.
const (
	stepD = 1
	stepC = 2
	stepB = 3
)

// overall returns the grade and the score of several subjects, without the given rules: the mean, rounded and then
// limited, because a mean hides a few bad tools. The grade is "" if no subject could be judged.
func overall(assessments []*assessment, without map[string]bool) (grade probe.Grade, score int) {
	n, steps, limit := 0, 0, len(grades)-1
	tools, bad := 0, 0
	for _, d := range assessments {
		if d.unjudged {
			continue
		}
		t := d.tally(without)
		step := slices.Index(grades, t.grade())
		n++
		steps += step
		score += t.score()
		if d.subject.name != "" {
			tools++
			if step <= stepD {
				bad++
			}
		}
		switch {
		case len(assessments) == 1: // the grade of one tool is not bounded
		case t.critical > 0:
			limit = min(limit, stepC)
		case step <= stepB:
			limit = min(limit, stepB)
		}
	}
	if n == 0 {
		return "", 0
	}
	if len(assessments) > 1 && badShare*bad > tools {
		limit = min(limit, stepD)
	}
	return grades[min(limit, (2*steps+n)/(2*n))], score / n
}

// maxRaise is the maximum number of fixes that raise lists.
const maxRaise = 5

// raise lists the fixes that raise the grade, the most effective first, each with the grade that is reached with it and those before it.
func raise(assessments []*assessment) []string {
	gain, tools, rules := map[string]int{}, map[string]int{}, []string{}
	for _, d := range assessments {
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
	fixed := map[string]bool{}
	for _, id := range rules[:min(len(rules), maxRaise)] {
		fixed[id] = true
		grade, score := overall(assessments, fixed)
		out = append(out, fmt.Sprintf("%s %s: %s%s Then %s (%d).", id, titleOf(id), fixOf(id), affected(len(assessments), tools[id]), grade, score))
	}
	return out
}

// affected returns a sentence with the number of tools that need a fix, "" if there is only one subject.
func affected(subjectsOf, tools int) string {
	if subjectsOf < 2 {
		return ""
	}
	return fmt.Sprintf(" In %d of %d.", tools, subjectsOf)
}

func titleOf(id string) string { return byID(id).Title }
func fixOf(id string) string   { return byID(id).Fix }

func byID(id string) *rule {
	return &allRules[slices.IndexFunc(allRules, func(r rule) bool { return r.ID == id })]
}
