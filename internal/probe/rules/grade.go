package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/candor-mcp/candor/internal/probe"
)

// weights are the points that a tool loses for breaking a rule, regardless of how often it does.
var weights = map[probe.Severity]int{probe.SeverityCritical: 30, probe.SeverityMajor: 10, probe.SeverityMinor: 3}

// The thresholds of the grades; the package comment explains them.
const (
	manyMajor       = 4
	severalCritical = 3
	badShare        = 4 // more than one bad tool in badShare limits the grade of the server to D
)

// tally counts the broken rules of one subject.
type tally struct {
	broken map[probe.Severity]int
	dead   bool
}

func (t tally) grade() probe.Grade {
	critical, major := t.broken[probe.SeverityCritical], t.broken[probe.SeverityMajor]
	switch {
	case t.dead || critical >= severalCritical:
		return probe.GradeF
	case critical > 0 || major >= manyMajor:
		return probe.GradeD
	case major > 0:
		return probe.GradeC
	case t.broken[probe.SeverityMinor] > 0:
		return probe.GradeB
	default:
		return probe.GradeA
	}
}

func (t tally) score() int {
	if t.dead {
		return 0
	}
	score := 100
	for severity, n := range t.broken {
		score -= n * weights[severity]
	}
	return max(0, score)
}

// assessment is a subject with the rules that it breaks, to be graded.
type assessment struct {
	subject  *subject
	found    []violation
	dead     bool // no case that needed an answer got one
	unjudged bool // no case failed, and no rule is broken
}

func (d *assessment) tally(without map[string]bool) tally {
	t := tally{broken: map[probe.Severity]int{}, dead: d.dead && !without["EC021"] && !without["EC022"]}
	for _, v := range d.found {
		if !without[v.rule.ID] {
			t.broken[v.rule.Severity]++
		}
	}
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
		case t.broken[probe.SeverityCritical] > 0:
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
	tools := map[*rule]int{}
	for _, d := range assessments {
		for _, v := range d.found {
			if weights[v.rule.Severity] > 0 {
				tools[v.rule]++
			}
		}
	}
	gain := func(r *rule) int { return tools[r] * weights[r.Severity] }
	rules := slices.SortedFunc(maps.Keys(tools), func(a, b *rule) int { return cmp.Or(gain(b)-gain(a), cmp.Compare(a.ID, b.ID)) })
	var out []string
	fixed := map[string]bool{}
	for _, r := range rules[:min(len(rules), maxRaise)] {
		affected := ""
		if len(assessments) > 1 {
			affected = fmt.Sprintf(" In %d of %d.", tools[r], len(assessments))
		}
		fixed[r.ID] = true
		grade, score := overall(assessments, fixed)
		out = append(out, fmt.Sprintf("%s %s: %s%s Then %s (%d).", r.ID, r.Title, r.Fix, affected, grade, score))
	}
	return out
}
