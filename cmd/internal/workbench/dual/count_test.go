package dual

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/dialect"
)

// TestD1AToolTooManyOrTooFewIsFoundAtTheStart opens the server with another table of patterns and checks that every
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
		t.Fatalf("the table as it is: %v", found)
	}
	patterns["one_more"] = dialect.PatternA
	if found := open(); !has(found) {
		t.Errorf("one pattern too many: %v", found)
	}
	delete(patterns, "one_more")
	delete(patterns, "server_ping")
	if found := open(); !has(found) {
		t.Errorf("one pattern too few: %v", found)
	}
	patterns["server_ping"] = dialect.PatternA
}
