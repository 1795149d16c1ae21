package candor_test

import (
	"testing"

	"github.com/candor-mcp/candor"
)

// A server that starts has no session, whatever it was told.
func TestStartupFailureHasNoSession(t *testing.T) {
	full := candor.Context{Tool: "t", Role: "r", SessionID: "s", WorkspaceRoot: "/w", InvariantID: "i", PhaseID: "p", PlanHash: "h"}
	e := candor.StartupFailure(candor.CodeKaizaBootstrapFailure, "", candor.WithContext(full), candor.WithTool("x"), candor.WithSession("s", "r", "/w"))
	if got, want := e.Context(), (candor.Context{Tool: "startup", InvariantID: "i", PhaseID: "p", PlanHash: "h"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
