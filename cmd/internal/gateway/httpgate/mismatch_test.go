package httpgate_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// Since version 2026-07-28 headers repeat parts of the message, and the server must refuse a mismatch with -32020.
func TestHeadersThatContradictTheMessageAreForTheUpstreamToRefuse(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read",` + meta + `}}`
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(string(body), "tools/list") {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","inputSchema":{"type":"object","required":["path"]}}]}}`)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":2,"error":{"code":-32020,"message":"the headers say something else"}}`)
	}), gateway.Options{}, httpgate.Options{})
	g.Post(t, list, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	for method, want := range map[string]string{"tools/call": "INVALID_ARGUMENTS", "tools/list": "HEADER_MISMATCH"} {
		got := g.Post(t, call, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", "read")
		if code := httpgatetest.CodeOf(got.Terminal(t, "2")); code != want {
			t.Errorf("with Mcp-Method: %s the answer is %s, want %s", method, got.Body, want)
		}
	}
}
