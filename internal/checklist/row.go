package checklist

// Result is the result of a test.
type Result string

// The results. A test that skipped a subtest counts as skipped.
const (
	Passed  Result = "passed"
	Failed  Result = "FAILED"
	Skipped Result = "SKIPPED"
	NotRun  Result = "DID NOT RUN" // it did not build, was not selected, or the run ended before it
	Listed  Result = "listed"      // tests were listed, not run
)

// Test is a test of a promise.
type Test struct {
	Dir    string `json:"dir"`
	Name   string `json:"name"`
	Result Result `json:"result"`
}

// Verdict sums up the tests of a row.
type Verdict string

// The verdicts. Any other verdict is the excuse of a row.
const (
	Proved  Verdict = "proved"
	Named   Verdict = "has a test" // which was not run
	Missing Verdict = "NO TEST"
	Broken  Verdict = "BROKEN" // a test of it did not pass
)

// Row is a promise with its tests.
type Row struct {
	ID      string  `json:"id"`    // K11, or kaiza/FILE_NOT_FOUND
	Group   string  `json:"group"` // the system or the domain
	Says    string  `json:"says"`
	Home    string  `json:"home,omitempty"` // the folder that must hold one of the tests; "" is any
	Excuse  string  `json:"-"`              // why no test is needed; "" means that one is needed
	Verdict Verdict `json:"verdict"`
	Tests   []Test  `json:"tests"`
}

// Bad reports whether the row lacks a test, or a test of it did not pass.
func (r Row) Bad() bool { return r.Verdict == Missing || r.Verdict == Broken }

// judge sets the verdict. A test that does not pass counts even where none is needed.
func (r *Row) judge() {
	if r.Tests == nil {
		r.Tests = []Test{} // in JSON a list, never null
	}
	athome := false
	r.Verdict = Proved
	for _, t := range r.Tests {
		athome = athome || r.Home == "" || t.Dir == r.Home
		switch t.Result {
		case Passed:
		case Listed:
			r.Verdict = Named
		case Failed, Skipped, NotRun:
			r.Verdict = Broken
		}
	}
	switch {
	case r.Verdict == Broken:
	case r.Excuse != "":
		r.Verdict = Verdict(r.Excuse)
	case !athome:
		r.Verdict = Missing
	}
}
