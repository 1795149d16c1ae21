package checklist

// Result is what became of a test.
type Result string

// The results. Only a test that passed proves something; a skipped one does not, nor one that skipped a part of itself.
const (
	Passed  Result = "passed"
	Failed  Result = "FAILED"
	Skipped Result = "SKIPPED"
	NotRun  Result = "DID NOT RUN" // it did not build, was not asked for, or the run ended before
	Listed  Result = "listed"      // nobody asked for results
)

// Test is a test beside the promise that it proves.
type Test struct {
	Dir    string `json:"dir"`
	Name   string `json:"name"`
	Result Result `json:"result"`
}

// Verdict is what the tests of a row come to.
type Verdict string

// The verdicts. Any other is the excuse of a row, and in order.
const (
	Proved  Verdict = "proved"
	Named   Verdict = "has a test" // and nobody asked whether it passes
	Missing Verdict = "NO TEST"
	Broken  Verdict = "BROKEN" // a test of it did not pass
)

// Row is a promise and the tests that prove it.
type Row struct {
	ID      string  `json:"id"`    // K11, or kaiza/FILE_NOT_FOUND
	Group   string  `json:"group"` // the system or the domain
	Says    string  `json:"says"`
	Home    string  `json:"home,omitempty"` // the folder that must hold one of the tests; "" is any
	Excuse  string  `json:"-"`              // why no test is needed; "" is: one is
	Verdict Verdict `json:"verdict"`
	Tests   []Test  `json:"tests"`
}

// Bad tells whether somebody must do something about the row.
func (r Row) Bad() bool { return r.Verdict == Missing || r.Verdict == Broken }

// judge sets the verdict. A test that does not pass is told even where none would be needed: it is somebody's promise already.
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
