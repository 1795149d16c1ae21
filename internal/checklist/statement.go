package checklist

import (
	"fmt"
	"regexp"
	"strings"
)

// numbered are the tests of statements: TestK11ALockedSessionReads is one of K11.
var numbered = regexp.MustCompile(`^Test([KWHD][1-9][0-9]*)[A-Z]`)

// StatementTests returns the tests of the statements whose letter is in letters; "" is all.
func (m *Module) StatementTests(letters string) []Func {
	var out []Func
	for _, f := range m.Matching(numbered) {
		if id := statementOf(f.Name); letters == "" || strings.Contains(letters, id[:1]) {
			out = append(out, f)
		}
	}
	return out
}

func statementOf(test string) string { return numbered.FindStringSubmatch(test)[1] }

// Statements returns a row with its tests for each statement of the systems whose letter is in letters; "" means all. A test that
// is named after a statement that does not exist is an error.
func Statements(systems []System, letters string, tests []Func, results Results) ([]Row, error) {
	of := map[string][]Test{}
	for _, f := range tests {
		id := statementOf(f.Name)
		of[id] = append(of[id], Test{f.Dir, f.Name, results.of(f.Dir, f.Name)})
	}
	var rows []Row
	for _, s := range systems {
		if letters != "" && !strings.Contains(letters, s.Letter) {
			continue
		}
		for i, says := range s.Statements {
			r := Row{ID: fmt.Sprintf("%s%d", s.Letter, i+1), Group: s.Name, Says: says, Home: s.Home}
			if !s.Built {
				r.Excuse = "not built yet"
			}
			r.Tests = of[r.ID]
			delete(of, r.ID)
			r.judge()
			rows = append(rows, r)
		}
	}
	for id, tests := range of {
		return rows, fmt.Errorf("%s in %s named after statement %s, which does not exist", tests[0].Name, tests[0].Dir, id)
	}
	return rows, nil
}
