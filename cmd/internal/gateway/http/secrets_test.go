package httpgate_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// TestConfiguredHeadersAreHiddenInFailures uses a server that repeats the configured key of the gateway under another name.
func TestConfiguredHeadersAreHiddenInFailures(t *testing.T) {
	const secret = "f00dbabe99"
	body := `{"jsonrpc":"2.0","id":7,"result":{"isError":true,"content":[{"type":"text","text":"no access with zk ` + secret + `"}]}}`
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", body), gateway.Options{}, httpgate.Options{Header: http.Header{"X-Api-Key": {secret}}})
	got := g.Post(t, httpgatetest.ToolCall)
	if !strings.Contains(string(got.Body), "no access with zk [redacted]") {
		t.Errorf("got %s", got.Body)
	}
	if strings.Contains(string(got.Body), secret) {
		t.Errorf("the key is in %s", got.Body)
	}
}
