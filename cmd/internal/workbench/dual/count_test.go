package dual

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
)

// TestD1AToolTooManyOrTooFewIsFoundAtTheStart opens the server that expects another number and checks that every
// call is refused.
func TestD1AToolTooManyOrTooFewIsFoundAtTheStart(t *testing.T) {
	open := func() []workbench.Finding {
		t.Helper()
		state, err := workbench.OpenState(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(t.Context(), Options{State: state})
		if err != nil {
			t.Fatal(err)
		}
		b, err := workbench.Open(t.Context(), s.Describe(), workbench.Options{State: state})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := state.Close(); err != nil {
			t.Error(err)
		}
		return b.Findings()
	}
	has := func(found []workbench.Finding) bool {
		for _, f := range found {
			if f.ID == "INV_STARTUP_TOOL_COUNT" {
				return true
			}
		}
		return false
	}
	if found := open(); has(found) {
		t.Fatalf("the number as it is: %v", found)
	}
	defer func(count int) { toolCount = count }(toolCount)
	for _, wrong := range []int{26, 28} {
		toolCount = wrong
		if found := open(); !has(found) {
			t.Errorf("want %d: %v", wrong, found)
		}
	}
}
