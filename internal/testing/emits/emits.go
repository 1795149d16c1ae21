// Package emits compares the codes that the tests of a package emit with the list that the catalogue is checked against.
package emits

import (
	"strings"

	"github.com/candor-mcp/candor"
)

// T is the part of *testing.T that is needed here.
type T[S any] interface {
	Helper()
	Errorf(format string, args ...any)
	Run(name string, test func(S)) bool
}

// Check makes each code of a list, one domain/SYMBOL a line, be emitted in a subtest of its name, and says which was not. The
// functions return the code that came over the wire. A code that is emitted must be active in the catalogue, and every function
// must have its line.
func Check[S T[S]](t S, list string, emit map[string]func(S) string) {
	t.Helper()
	listed := 0
	for line := range strings.Lines(list) {
		name := strings.TrimSpace(line)
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		listed++
		t.Run(name, func(t S) {
			t.Helper()
			checkOne(t, name, emit[name])
		})
	}
	if listed != len(emit) {
		t.Errorf("%d codes are listed, %d can be emitted", listed, len(emit))
	}
}

func checkOne[S T[S]](t S, name string, emitted func(S) string) {
	t.Helper()
	code, err := candor.ParseCode(name)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	if emitted == nil {
		t.Errorf("%s is listed, and nothing emits it", name)
		return
	}
	if got := emitted(t); got != name {
		t.Errorf("%s is not emitted, but %q", name, got)
	}
	if code.Info().Status != "active" {
		t.Errorf("%s is emitted and %s in the catalogue", name, code.Info().Status)
	}
}
