package checklist

import (
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/candor-mcp/candor"
)

// emitting are the tests that make a running program emit codes over its transport, with one subtest per code: domain/SYMBOL, or
// in the home of a system with one domain just SYMBOL.
var emitting = regexp.MustCompile(`^Test([A-Z][0-9]+)?Every[A-Za-z]*Codes?[A-Za-z]*IsEmitted$`)

// CodeTests returns the tests that make programs emit codes.
func (m *Module) CodeTests() []Func { return m.Matching(emitting) }

// Codes returns a row with its subtests for each code of a domain; "" means all. Reserved codes need no test. A test of codes that
// did not pass is an error even if its subtests passed, because it also counts them.
func Codes(systems []System, domain string, codes iter.Seq[candor.Code], tests []Func, results Results) ([]Row, error) {
	of := map[string][]Test{}
	var wrong error
	for _, f := range tests {
		if r := results.of(f.Dir, f.Name); r != Passed && wrong == nil {
			wrong = fmt.Errorf("%s in %s as a whole: %s", f.Name, f.Dir, r)
		}
		for _, name := range results.below(f.Dir, f.Name) {
			code := codeOf(systems, f.Dir, strings.TrimPrefix(name, f.Name+"/"))
			of[code] = append(of[code], Test{f.Dir, name, results.of(f.Dir, name)})
		}
	}
	var rows []Row
	for c := range codes {
		if domain != "" && c.Domain() != domain {
			continue
		}
		r := Row{ID: c.String(), Group: c.Domain(), Says: c.Sentence(), Home: homeOf(systems, c.Domain()), Tests: of[c.String()]}
		if c.Status() != candor.StatusActive {
			r.Excuse = c.Status().String()
		}
		r.judge()
		rows = append(rows, r)
	}
	return rows, wrong
}

// codeOf adds the domain to a symbol that stands alone in the home of a system.
func codeOf(systems []System, dir, name string) string {
	for _, s := range systems {
		if s.Home == dir && len(s.Domains) == 1 && !strings.Contains(name, "/") {
			return s.Domains[0] + "/" + name
		}
	}
	return name
}
