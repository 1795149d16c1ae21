package harness_test

import (
	"slices"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// methodsOf returns the methods that the ready line lists.
func (h *harness) methods() []string {
	var names []string
	for v := range h.ready.Path("methods").Elements() {
		name, _ := v.Str()
		names = append(names, name)
	}
	return names
}

func TestH1ReadyLineIsFirstAndOnce(t *testing.T) {
	for name, s := range map[string]setup{
		"default": {},
		"named":   {env: []string{"MCP_SERVER_NAME=memory", "MCP_ERROR_METRICS=1"}},
		"all":     {env: []string{"MCP_DOMAINS=all"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, s) // fails if the first line is another one
			server, named := h.ready.Path("server").Str()
			if version, ok := h.ready.Path("schema", "errorCodes").Int64(); !ok || version != 1 || named != (name == "named") || named && server != "memory" {
				t.Errorf("the ready line: %s", h.ready.Raw())
			}
			listed := h.methods()
			if slices.Contains(listed, "sys/errorStats") != (name == "named") || !slices.Contains(listed, "sys/metrics") {
				t.Errorf("the methods of sys that are on and no others: %q", listed)
			}
			for _, method := range listed {
				if r := h.ask(method, `{"no such parameter":1}`); r.number() == -32601 {
					t.Errorf("%s is listed, but: %s", method, r.m.Bytes())
				}
			}
			_ = h.in.Close() // the harness ends
			for line := range h.lines {
				if v, err := wire.ParseValue(line, wire.Limits{}); err != nil || v.Path("type").Is("ready") {
					t.Errorf("a second ready line, or not JSON: %s", line)
				}
			}
		})
	}
}
