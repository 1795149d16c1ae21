// Package emits holds the tests that make a room emit its codes to the list that the catalogue is held to.
package emits

import (
	"strings"

	"github.com/candor-mcp/candor"
)

// T is the part of *testing.T that is needed here.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Check makes each code of a list, one domain/SYMBOL a line, be emitted, and says which was not. The functions return the code that
// came over the wire. A code that is emitted must be active in the catalogue, and every function must have its line.
func Check(t T, list string, emit map[string]func() string) {
	t.Helper()
	listed := 0
	for line := range strings.Lines(list) {
		name := strings.TrimSpace(line)
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		listed++
		code, err := candor.ParseCode(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		emitted, ok := emit[name]
		if !ok {
			t.Errorf("%s is listed, and nothing emits it", name)
			continue
		}
		if got := emitted(); got != name {
			t.Errorf("%s is not emitted, but %q", name, got)
		}
		if code.Status() != candor.StatusActive {
			t.Errorf("%s is emitted and %s in the catalogue", name, code.Status())
		}
	}
	if listed != len(emit) {
		t.Errorf("%d codes are listed, %d can be emitted", listed, len(emit))
	}
}
