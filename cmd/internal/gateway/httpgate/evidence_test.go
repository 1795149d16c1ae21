package httpgate_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

// failingTool is an upstream with one tool, read, that takes a path and always fails with the given text.
func failingTool(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := wire.Parse(body, wire.Limits{})
		result := fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":true}`, text)
		if m.MethodIs("tools/list") {
			result = `{"tools":[{"name":"read","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID(), result)
	})
}

// TestGatewayReadsFailuresWithTheToolsSchema checks that a name in the text is not reported if it is not an argument in the
// listed schema.
func TestGatewayReadsFailuresWithTheToolsSchema(t *testing.T) {
	for text, want := range map[string]string{
		"slug is required": "UNKNOWN_TOOL_FAILURE",
		"path is required": "INVALID_ARGUMENTS",
		"Invalid URL":      "CONFIG_INVALID",
		"File a not found": "FILE_NOT_FOUND",
	} {
		g := httpgatetest.NewGate(t, failingTool(text), gateway.Options{}, httpgate.Options{})
		g.Post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		answer := wire.Parse(g.Post(t, httpgatetest.ToolCall).Body, wire.Limits{})
		if code, _ := answer.Result().Path("_meta", "dev.candor/error", "code").Str(); code != want {
			t.Errorf("%q read as %s, want %s: %s", text, code, want, strings.TrimSpace(string(answer.Bytes())))
		}
	}
}
