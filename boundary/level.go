package boundary

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// levels are those of the protocol. The SDK takes any text for one, and a client that misspells it would never learn why it hears nothing.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// badLevel returns why a request to set the level of logging cannot be followed, nil for any other request.
func badLevel(req mcp.Request) *candor.Error {
	p, ok := req.GetParams().(*mcp.SetLoggingLevelParams) //nolint:staticcheck // it goes, and until then it is asked for
	if !ok || p == nil || slices.Contains(levels, string(p.Level)) {
		return nil
	}
	return candor.New(candor.CodeInvalidRequestParams, "The level is none of the protocol's.", candor.WithOrigin(candor.PartyServer, false),
		candor.WithIssues(candor.Issue{Path: "/level", Rule: "enum", Message: "must be one of the levels of the protocol",
			Expected: map[string]any{"enum": levels}, Example: "info"}))
}
