package gateway_test

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// TestClientNamedInARequestGetsItsForm checks the name that a request of protocol version 2026-07-28 has in its _meta.
func TestClientNamedInARequestGetsItsForm(t *testing.T) {
	u := gateway.New(gateway.Options{})
	for name, brief := range map[string]bool{"gemini-cli-mcp-client": true, "zed": false} {
		call := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"`+name+`","version":"1"}}}}`), wire.Limits{})
		answer := u.NewCall(&call, "s").Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"boom"}],"isError":true}}`))
		m := wire.Parse(answer.Bytes, wire.Limits{})
		if envelope := m.Result().Path("_meta", "dev.candor/error"); !envelope.Path("code").Present() || envelope.Path("message").Present() == brief {
			t.Errorf("%s: %s", name, answer.Bytes)
		}
	}
}
