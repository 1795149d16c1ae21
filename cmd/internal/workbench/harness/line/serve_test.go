package line

import (
	"strings"
	"testing"
	"time"
)

func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		name, method, params string
		code                 int
		symbol               string
		change               func(*Options)
	}{
		{name: "application error", method: "t/full", code: 2400, symbol: "E_KG_FULL"},
		{name: "missing parameter", method: "t/echo", params: `{}`, code: 1000, symbol: "E_INVALID_PARAMS"},
		{name: "positional parameters", method: "t/echo", params: `["a"]`, code: 1000, symbol: "E_INVALID_PARAMS"},
		{name: "unknown parameter", method: "t/full", params: `{"x":1}`, code: 1000, symbol: "E_INVALID_PARAMS"},
		{name: "unmapped", method: "t/plain", code: -32603, symbol: "INTERNAL_ERROR"},
		{name: "panic", method: "t/panic", code: -32603, symbol: "INTERNAL_ERROR"},
		{name: "goexit", method: "t/goexit", code: -32603, symbol: "INTERNAL_ERROR"},
		{name: "not encodable", method: "t/nan", code: 4015, symbol: "RESULT_NOT_ENCODABLE"},
		{name: "unknown method", method: "t/ehco", code: -32601, symbol: "METHOD_NOT_FOUND"},
		{name: "deadline", method: "t/wait", code: 1001, symbol: "E_TIMEOUT", change: func(o *Options) { o.Timeout = time.Millisecond }},
		{name: "disabled", method: "py/run", code: 1006, symbol: "E_UNSUPPORTED",
			change: func(o *Options) { o.Disabled = []Disabled{{Prefix: "py", Hint: "set MCP_DOMAINS"}} }},
		{name: "log level", method: "sys/setLogLevel", params: `{"level":"loud"}`, code: -32602, symbol: "INVALID_REQUEST_PARAMS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t, test.change)
			line := `{"jsonrpc":"2.0","id":"a","method":"` + test.method + `"`
			if test.params != "" {
				line += `,"params":` + test.params
			}
			r := c.ask(line + "}")
			if string(r.ID) != `"a"` || r.JSONRPC != "2.0" || r.Error == nil {
				t.Fatal(r.line)
			}
			d := r.Error.Data
			if r.Error.Code != test.code || d.Symbol != test.symbol || d.Domain == "" || d.Retryable == nil || d.Canonical == nil {
				t.Errorf("want %d %s: %s", test.code, test.symbol, r.line)
			}
			if strings.Contains(r.line, "/no/such") || strings.Contains(r.line, "secret") || strings.Contains(r.line, "no such file") || d.Stack != "" {
				t.Errorf("the client sees the cause: %s", r.line)
			}
			if stats := c.meter.Stats(); stats.Total != 1 || stats.BySymbol[test.symbol] != 1 {
				t.Errorf("counted %+v", stats.Breakdown)
			}
			entries := c.record.all()
			if len(entries) != 1 || entries[0].code != test.symbol || entries[0].envelope != r.line {
				t.Errorf("recorded %+v", entries)
			}
			if r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"sys/ping"}`); string(r.Result) != "{}" {
				t.Errorf("the server does not go on: %s", r.line)
			}
		})
	}
}
