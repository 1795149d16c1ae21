package httpgate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// TestIsErrorThatIsNotABoolean covers servers that write isError as a number or a string.
func TestIsErrorThatIsNotABoolean(t *testing.T) {
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	for flag, failed := range map[string]bool{
		`1`: true, `"true"`: true, `"True"`: true, `[1]`: true, `{"code":5}`: true,
		`0`: false, `0.0`: false, `""`: false, `"False"`: false, `null`: false, `[]`: false, `{ }`: false,
	} {
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"Token %s"}],"isError":%s}}`, secret, flag)
		for _, mode := range httpgatetest.Redacting {
			g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", answer), gateway.Options{Mode: mode}, httpgate.Options{})
			got := string(g.Post(t, httpgatetest.ToolCall).Body)
			switch {
			case !failed && got != answer:
				t.Errorf("%s: isError %s is no failure, but the answer was changed: %s", mode, flag, got)
			case failed && (!strings.Contains(got, `"isError":true`) || strings.Contains(got, secret)):
				t.Errorf("%s: isError %s is a failure: %s", mode, flag, got)
			}
		}
	}
}
