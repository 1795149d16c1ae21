package schema

import (
	"errors"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// maxIssues bounds a report.
const maxIssues = 50

// Rules that are not keywords of JSON Schema. For text that is not JSON the rule is the name of its [wireflaw.Flaw].
const (
	// RuleUnknownKey names a key that the schema does not know.
	RuleUnknownKey = "unknown_key"
	// RuleTooComplex names a part that is known to be wrong and would take too long to explain.
	RuleTooComplex = "too_complex"
)

// Report lists what is wrong with a value.
type Report struct {
	// Issues are sorted by path, then rule; at most 50.
	Issues []candor.Issue
	// Template is a whole value that passes the schema, made from the schema alone; none if the value is in order or no template
	// could be made.
	Template candor.Details
	// More counts the issues beyond the bound. In a value with very many it is a lower bound.
	More int
	// Fatal reports an issue that no server can be expected to work around: a required argument is missing, has a type with no lossless
	// reading as the wanted one, or has a misspelt key. Without it the value may work, though it does not fit.
	Fatal bool
	// Unchecked reports that the check stopped at a bound of ours and found nothing wrong before it. The value may be valid.
	Unchecked bool
}

// OK reports whether nothing was found to be wrong.
func (r Report) OK() bool { return len(r.Issues) == 0 }

// Explain checks the JSON text in full and reports everything that is wrong with it. Empty text counts as {}.
//
// Text that is not one JSON value, or names a key twice, has a single issue at the path "". A value that cannot be checked in bounded
// time or memory, or that holds a number too large to work with, is not reported as wrong: [Report.Unchecked] is set.
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
	switch found, ok := s.check(v); {
	case len(found) > 0:
		return s.report(found)
	default:
		return Report{Unchecked: !ok && !s.quick.accepts(v, new(reading(len(value))))}
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
	t := reporter{Schema: s, meant: wanted{map[*jsonschema.Schema][]string{}, map[*jsonschema.Schema]int{}}, maker: maker{schema: s, steps: madeSteps}}
	t.refused = map[string]bool{}
	for i := range found {
		if found[i].isUnknownKey() {
			t.refused[found[i].path] = true
		}
	}
	for _, f := range found {
		r.Issues = append(r.Issues, t.issue(f))
	}
	if len(t.meant.keys)+len(t.meant.branches) == 0 {
		r.Template = s.template()
	} else {
		r.Template = s.templateFor(t.meant)
	}
	return r
}
