package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// TestConfiguredHeadersAreHiddenInFailures: a server repeats the key that the gateway was told to send, under a name of its own.
func TestConfiguredHeadersAreHiddenInFailures(t *testing.T) {
	const secret = "f00dbabe99"
	body := `{"jsonrpc":"2.0","id":7,"result":{"isError":true,"content":[{"type":"text","text":"no access with zk ` + secret + `"}]}}`
	g := newGate(t, says(200, "application/json", body), gateway.Options{}, gateway.HTTPOptions{Header: http.Header{"X-Api-Key": {secret}}})
	got := g.post(t, toolCall)
	if !strings.Contains(string(got.body), "no access with zk [redacted]") {
		t.Errorf("got %s", got.body)
	}
	if strings.Contains(string(got.body), secret) {
		t.Errorf("the key is in %s", got.body)
	}
}
