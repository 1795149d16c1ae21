package kaiza_test

import (
	"strings"
	"testing"
)

// thrown lists the kinds of drill with their code.
var thrown = map[string]string{
	"error":           "INTERNAL_ERROR",
	"wrapped":         "INSUFFICIENT_PERMISSIONS",
	"legacy":          "HASH_MISMATCH",
	"foreign_rule":    "INVARIANT_VIOLATION",
	"silent":          "UNKNOWN_TOOL_FAILURE",
	"uncoded":         "UNCODED_ERROR",
	"panic":           "INTERNAL_ERROR",
	"panic_text":      "INTERNAL_ERROR",
	"panic_nil":       "INTERNAL_ERROR",
	"panic_pointer":   "INTERNAL_ERROR",
	"panic_value":     "INTERNAL_ERROR",
	"cyclic":          "INTERNAL_ERROR",
	"huge":            "INTERNAL_ERROR",
	"invariant":       "INVARIANT_VIOLATION",
	"panic_invariant": "INVARIANT_VIOLATION",
}

// kinds returns the kinds of drill that the server lists.
func (c *client) kinds() (kinds []string) {
	c.t.Helper()
	m := c.ask("tools/list", `{}`)
	for tool := range m.Result().Path("tools").Elements() {
		for kind := range tool.Path("inputSchema", "properties", "kind", "enum").Elements() {
			text, _ := kind.Str()
			kinds = append(kinds, text)
		}
	}
	if len(kinds) != len(thrown) {
		c.t.Errorf("there are %d ways to fail and %d are known: %v", len(kinds), len(thrown), kinds)
	}
	return kinds
}

// drill makes the drill tool fail, and writes a report if that locked the session.
func (c *client) drill(kind string) answer {
	c.t.Helper()
	a := c.call("drill", args{"kind": kind})
	if a.code() == "INVARIANT_VIOLATION" {
		c.call("write_file", args{"path": "docs/reports/" + kind + ".md", "content": "It was a drill."}).fine()
	}
	return a
}

func TestK6AnyThrownValueBecomesAnEnvelope(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.executor("--drill")
	for _, kind := range c.kinds() {
		envelope := c.drill(kind).enveloped(thrown[kind])
		if said, _ := envelope.Path("human_message").Str(); strings.Contains(said, "the drill") || strings.Contains(said, "goroutine") {
			t.Errorf("%s: what was thrown is for the operator: %q", kind, said)
		}
		c.call("read_file", args{"path": "src/hello.txt"}).fine()
	}
	if code := c.End(); code != 0 { // the same process served all calls; otherwise the connection would have ended
		t.Errorf("the server ended with %d: %s", code, &c.Stderr)
	}
	p.verify()
}
