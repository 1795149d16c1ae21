package boundary

import (
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// TestUnrecordedFailureDoesNotClaimNoEffect checks the error for a failure that cannot be recorded. The tool has
// run, so an error that denies any effect would make a model repeat the call.
func TestUnrecordedFailureDoesNotClaimNoEffect(t *testing.T) {
	for name, refusal := range map[string]error{
		"any error":        errors.New("disk full"),
		"the ledger's own": candor.New(candor.CodeLedgerFailed, ""),
	} {
		session := stumbling(t, Options{Ledger: &fakeLedger{refuse: refusal}, Logger: quiet},
			func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, errors.New("it is on fire") })
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "stumbles"})
		e := received(result, err)
		if e.Code() != candor.CodeLedgerFailed || e.Retry().Retryable() || e.Details().Get("code").IsZero() {
			t.Errorf("%s: told %v, %v", name, e, e.Retry())
		}
		block, ok := result.Content[0].(*mcp.TextContent)
		if !ok {
			t.Fatalf("%s: the first block is %T", name, result.Content[0])
		}
		text := block.Text
		if strings.Contains(text, "not done") || strings.Contains(text, "same call again") {
			t.Errorf("%s: the model reads %q", name, text)
		}
	}
}
