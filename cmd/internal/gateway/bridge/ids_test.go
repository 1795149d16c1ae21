package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

const callOf = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"read","arguments":{}}}`

// TestFailuresBearTheIDTheClientWrote covers failing answers in every mode that changes answers.
func TestFailuresBearTheIDTheClientWrote(t *testing.T) {
	overRoutes(t, func(t *testing.T, r route) {
		for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
			for name, answer := range map[string]string{
				"tool":      `{"jsonrpc":"2.0","id":"a\u0026b","result":{"isError":true,"content":[{"type":"text","text":"no such page"}]}}`,
				"protocol":  `{"jsonrpc":"2.0","id":"a\u0026b","error":{"code":-32050,"message":"no such page"}}`,
				"suspected": `{"jsonrpc":"2.0","id":"a\u0026b","result":{"content":[{"type":"text","text":"Error: no such page"}]}}`,
			} {
				got, kept := r.ask(t, gateway.Options{Mode: mode}, fmt.Sprintf(callOf, `"a&b"`), answer)
				m := wire.Parse([]byte(got), wire.Limits{})
				if string(m.ID()) != `"a&b"` || strings.Contains(got, "UPSTREAM_MALFORMED") {
					t.Errorf("%s, %s: client gets %s", mode, name, got)
				}
				if n, _, _ := kept.Totals(); n != 1 {
					t.Errorf("%s, %s: %d entries", mode, name, n)
				}
			}
		}
	})
}
