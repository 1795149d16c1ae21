package schema

import (
	"errors"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// maxIssues bounds a report.
const maxIssues = 50

// Rules that are not keywords of JSON Schema. For text that is not JSON the rule is the name of its [wireflaw.Flaw].
const (
	// RuleUnknownKey is the rule of a key that the schema does not have.
	RuleUnknownKey = "unknown_key"
	// RuleTooComplex is the rule of a value that would take too long to check, or of an invalid one that would take too long to explain.
	RuleTooComplex = "too_complex"
)

// Report lists the issues of a value.
type Report struct {
	// Issues are sorted by path, then rule; at most 50.
	Issues []candor.Issue
	// Template is a value that passes the schema, made from the schema alone. It is zero if the value is valid or if none was found.
	Template candor.Details
	// More counts the issues beyond the bound. In a value with very many it is a lower bound.
	More int
	// Fatal reports an issue that no server can be expected to work around: a required argument is missing, has a type with no lossless
	// reading as the wanted one, or has a misspelt key. Other issues may be tolerated by the server.
	Fatal bool
	// Defaults are the paths of missing keys that have a default.
	Defaults []string
	// Unchecked reports that the check stopped at a limit of this package and found nothing wrong before it. The value may be valid. The
	// only issue says which limit, so that a caller that does not look at this field refuses the value.
	Unchecked bool
}

// Tolerant returns the report without the missing keys that have a default: a server fills them in.
func (r Report) Tolerant() Report {
	r.Issues = slices.DeleteFunc(slices.Clone(r.Issues), func(issue candor.Issue) bool { return slices.Contains(r.Defaults, issue.Path) })
	return r
}

// OK reports whether the value is valid.
func (r Report) OK() bool { return len(r.Issues) == 0 }

// Explain checks the JSON text in full and reports all issues. Empty text counts as {}.
//
// Text that is not one JSON value, or names a key twice, has a single issue at the path "". A value that cannot be checked in bounded
// time or memory, or that holds a number too large to work with, has one issue that says so, and [Report.Unchecked] is set.
// For alternatives (anyOf, oneOf) the closest one is reported. In a value with very many errors only some are looked for:
// [Report.More] is then a lower bound.
func (s *Schema) Explain(value []byte) Report {
	if len(value) == 0 {
		value = emptyObject
	}
	v, err := wire.ParseValue(value, limits)
	if err != nil {
		return s.whole(flawOf(err))
	}
	switch found, limit := s.check(v); {
	case len(found) > 0:
		return s.report(found)
	case limit != "" && !s.quick.accepts(v, budgetFor(len(value))):
		return Report{Unchecked: true, Issues: []candor.Issue{{Rule: RuleTooComplex, Message: "cannot be checked: " + limit}}}
	default:
		return Report{}
	}
}

// whole reports one issue with the value as a whole.
func (s *Schema) whole(rule, message string) Report {
	return Report{
		Issues:   []candor.Issue{{Rule: rule, Message: message}},
		Template: s.template(),
	}
}

func flawOf(err error) (rule, message string) {
	var bad wire.Malformation
	if !errors.As(err, &bad) {
		bad.Flaw = wireflaw.NotJSON
	}
	return bad.Flaw.String(), "this is not JSON that can be read safely: " + bad.Flaw.Reason()
}

func (s *Schema) report(found []finding) Report {
	for i := range found {
		found[i].word()
	}
	slices.SortFunc(found, finding.compare)
	found = slices.CompactFunc(found, func(a, b finding) bool { return a.compare(b) == 0 })
	var r Report
	r.Fatal = slices.ContainsFunc(found, func(f finding) bool { return s.isFatal(&f) })
	if len(found) > maxIssues {
		r.More = len(found) - maxIssues
		found = found[:maxIssues]
	}
	t := reporter{Schema: s, meant: alternatives{}, maker: maker{schema: s, steps: madeSteps}}
	t.refused = map[string]bool{}
	for i := range found {
		if found[i].isUnknownKey() {
			t.refused[found[i].path] = true
		}
	}
	for _, f := range found {
		r.Issues = append(r.Issues, t.issue(f))
		if s.hasDefault(&f) {
			r.Defaults = append(r.Defaults, f.path)
		}
	}
	if len(t.meant) > 0 {
		r.Template = s.templateFor(t.meant)
	}
	if r.Template.IsZero() {
		r.Template = s.template()
	}
	return r
}
