package candor_test

import (
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// TestStartupFailureHasNoSession checks that a startup failure has no session, whatever the options set.
func TestStartupFailureHasNoSession(t *testing.T) {
	full := candor.CallInfo{Tool: "t", Role: "r", SessionID: "s", WorkspaceRoot: "/w", InvariantID: "i", PhaseID: "p", PlanHash: "h"}
	e := candor.StartupFailure(kaiza.BootstrapFailure, "", candor.WithCallInfo(full), candor.WithTool("x"), candor.WithSession("s", "r", "/w"))
	if got, want := e.CallInfo(), (candor.CallInfo{Tool: "startup", InvariantID: "i", PhaseID: "p", PlanHash: "h"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
