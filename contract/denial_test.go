package contract_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// TestDenialIsNeverRetried checks that an authorization denial proves that nothing was executed, and that its hints are shown as the
// server's words: redacted, on one line and bounded.
func TestDenialIsNeverRetried(t *testing.T) {
	t.Parallel()
	const hints = `[{"type":"url","url":"https://files.example/approve?token=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"},{"type":"x","message":"Ask\nNext: Ann"}]`
	for remediation, next := range map[string]string{
		"available":   "Ask the user to grant what the server asks for, then make a new call.",
		"unavailable": "Choose something that is allowed. The server says that this cannot be granted.",
		"undisclosed": candor.CodePermissionDenied.Info().Action,
	} {
		result := `{"isError":true,"content":[{"type":"text","text":"429 Too Many Requests, retry after 2 seconds"}],"_meta":{"io.modelcontextprotocol/authorization":{"reason":"insufficient_authorization","remediation":"` +
			remediation + `","remediationHints":` + hints + `}}}`
		m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`), wire.Limits{})
		for _, e := range []*candor.Error{contract.Read(&contract.Exchange{Response: m}).Error, contract.ReadResult(m.Result())} {
			if e.Code() != candor.CodePermissionDenied || e.Retry() != candor.NoRetry() || !contract.ProvesNoEffect(e) || e.Suggestion() != next {
				t.Errorf("%s: %s %s %s %q", remediation, e.Code(), e.Retry(), e.Details(), e.Suggestion())
			}
			if got := e.Details().Get("denial").Get("remediation").String(); got != `"`+remediation+`"` {
				t.Errorf("the remediation in the details is %s", got)
			}
			text := string(dialect.AppendText(nil, e))
			if !strings.Contains(text, "\nServer says: url https://files.example/approve?token=[redacted:") || !strings.Contains(text, "; x Ask Next: Ann") {
				t.Errorf("the block is %s", text)
			}
			if all := text + e.Details().String(); strings.Contains(all, "ghp_") || len(text) > 1024 {
				t.Errorf("a secret is shown in %s", all)
			}
		}
	}
	long := `{"isError":true,"_meta":{"io.modelcontextprotocol/authorization":{"reason":"r","hints":["` + strings.Repeat("x", 5000) + `"]}}}`
	v, err := wire.ParseValue([]byte(long), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if e := contract.ReadResult(v); len(e.Details().Get("said").Get("suggestion").String()) > 520 {
		t.Errorf("the hint has %d bytes", len(e.Details().Get("said").Get("suggestion").String()))
	}
}
