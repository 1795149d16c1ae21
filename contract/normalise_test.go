package contract_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// TestNormaliseOnlyAdds checks that an envelope is added whatever value the upstream put in its member, and that the answer's own
// content is kept.
func TestNormaliseOnlyAdds(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		changed  bool
	}{
		{"a tool's failure", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}`, true},
		{"without content", `{"jsonrpc":"2.0","id":1,"result":{"isError":true}}`, true},
		{"_meta is null", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"_meta":null}}`, true},
		{"_meta is a number", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":"x","_meta":5}}`, true},
		{"content is a text", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":"x"}}`, true},
		{"somebody else's mark", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"_meta":{"dev.candor/error":{"code":"NOPE"}}}}`, true},
		{"a protocol error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`, true},
		{"with data", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x","data":{"a":1}}}`, true},
		{"with empty data", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":""}}`, true},
		{"data is a text", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x","data":"why"}}`, true},
		{"data is a list", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x","data":[1]}}`, true},
		{"data is exactly a uri", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":{"uri":"a"}}}`, false},
		{"the error is a text", `{"jsonrpc":"2.0","id":1,"error":"boom"}`, false},
	} {
		m := wire.Parse([]byte(tc.in), wire.Limits{})
		got := contract.Read(&contract.Exchange{Response: m, Ref: "r"})
		out, err := contract.Normalise(nil, &m, got.Error, candor.JSONOptions{})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if changed := string(out) != tc.in; changed != tc.changed {
			t.Errorf("%s: changed is %v, want %v: %s", tc.name, changed, tc.changed, out)
		}
		if tc.changed && !strings.Contains(string(out), `"dev.candor/error":{"code":"`+got.Error.Code().Symbol()) {
			t.Errorf("%s: no canonical error in %s", tc.name, out)
		}
	}
}
