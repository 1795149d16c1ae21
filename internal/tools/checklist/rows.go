package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
)

//go:embed statements.json
var statements []byte

// system is a system of the workbench and the statements about it.
type system struct {
	Letter     string // of its statements: K1 is the first of the system K
	Name       string
	Home       string   // the folder of the tests that drive the running system
	Domains    []string // of its codes
	Statements []string // in order, from number 1
}

func readSystems() ([]system, error) {
	var out []system
	err := json.Unmarshal(statements, &out)
	return out, err
}

// row is a promise with its tests.
type row struct {
	ID      string // K11, or kaiza/FILE_NOT_FOUND
	Group   string
	Says    string
	Verdict string // proved, NO TEST, BROKEN, or why no test is needed
	Tests   []testEnds
	home    string // the folder that must hold one of the tests; "" is any
}

type testEnds struct {
	test
	End string
}

const (
	proved  = "proved"
	missing = "NO TEST"
	broken  = "BROKEN"
)

func (r row) bad() bool { return r.Verdict == missing || r.Verdict == broken }

// judge sets the verdict. A test that does not pass counts even where none is needed; excuse says why none is.
func (r *row) judge(excuse string) {
	atHome := slices.ContainsFunc(r.Tests, func(t testEnds) bool { return r.home == "" || t.Dir == r.home })
	switch {
	case slices.ContainsFunc(r.Tests, func(t testEnds) bool { return t.End != "pass" }):
		r.Verdict = broken
	case excuse != "":
		r.Verdict = excuse
	case !atHome:
		r.Verdict = missing
	default:
		r.Verdict = proved
	}
}

// numbered are the tests of statements: TestK11ALockedSessionReads is one of K11.
var numbered = regexp.MustCompile(`^Test([KWHD][1-9][0-9]*)[A-Z][^/]*$`)

// statementRows judges the statements. A test that is named after a statement that does not exist is an error.
func statementRows(systems []system, results *results) ([]row, error) {
	of := map[string][]testEnds{}
	for _, t := range results.tests {
		if m := numbered.FindStringSubmatch(t.Name); m != nil {
			of[m[1]] = append(of[m[1]], testEnds{t, results.endOf(t)})
		}
	}
	rows := []row{}
	for _, s := range systems {
		for i, says := range s.Statements {
			r := row{ID: fmt.Sprintf("%s%d", s.Letter, i+1), Group: s.Name, Says: says, home: s.Home}
			r.Tests = of[r.ID]
			delete(of, r.ID)
			r.judge("")
			rows = append(rows, r)
		}
	}
	for id, tests := range of {
		return rows, fmt.Errorf("%s in %s: named after statement %s, which does not exist", tests[0].Name, tests[0].Dir, id)
	}
	return rows, nil
}

// emitting are the tests that make a running program emit codes over its transport, with one subtest per code: domain/SYMBOL, or
// in the home of a system with one domain just SYMBOL.
var emitting = regexp.MustCompile(`^(Test(?:[A-Z][0-9]+)?Every[A-Za-z]*Codes?[A-Za-z]*IsEmitted)(?:/(.*))?$`)

// codeRows judges the codes. Reserved codes need no test. A test of codes that did not pass is an error even
// if its subtests passed, because it also counts them.
func codeRows(systems []system, codes iter.Seq[candor.Code], results *results) (rows []row, err error) {
	of := map[string][]testEnds{}
	for _, t := range results.tests {
		m := emitting.FindStringSubmatch(t.Name)
		switch {
		case m == nil:
		case m[2] != "":
			code := codeOf(systems, t.Dir, m[2])
			of[code] = append(of[code], testEnds{t, results.endOf(t)})
		case results.endOf(t) != "pass":
			err = fmt.Errorf("%s in %s as a whole: %s", t.Name, t.Dir, results.endOf(t))
		}
	}
	for c := range codes {
		r := row{ID: c.String(), Group: c.Domain(), Says: c.Info().Sentence, Tests: of[c.String()]}
		if i := slices.IndexFunc(systems, func(s system) bool { return slices.Contains(s.Domains, c.Domain()) }); i >= 0 {
			r.home = systems[i].Home
		}
		excuse := ""
		if c.Info().Status != "active" {
			excuse = c.Info().Status
		}
		r.judge(excuse)
		rows = append(rows, r)
	}
	return rows, err
}

// codeOf adds the domain to a symbol without one in the home of a system.
func codeOf(systems []system, dir, name string) string {
	for _, s := range systems {
		if s.Home == dir && len(s.Domains) == 1 && !strings.Contains(name, "/") {
			return s.Domains[0] + "/" + name
		}
	}
	return name
}

// printRows prints each row with its tests below it, and the number of rows with each verdict.
func printRows(out io.Writer, rows []row, brief bool) {
	counts := map[string]int{}
	group := ""
	for _, r := range rows {
		counts[r.Verdict]++
		if brief && !r.bad() {
			continue
		}
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(out, "\n%s\n", group)
		}
		fmt.Fprintf(out, "  %-4s %s: %s\n", r.ID, r.Verdict, r.Says)
		for _, t := range r.Tests {
			fmt.Fprintf(out, "         %-5s %s %s\n", t.End, t.Dir, t.Name)
		}
	}
	for verdict, n := range counts {
		fmt.Fprintf(out, "%d promises: %s\n", n, verdict)
	}
}
