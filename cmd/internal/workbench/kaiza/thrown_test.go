package kaiza_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/wire"
)

// thrown lists the kinds of drill with their code and cause; an empty cause matches any.
var thrown = map[string]struct{ code, cause string }{
	"error":           {"INTERNAL_ERROR", `{"message":"the drill returned an error","code":null,"name":"Error"}`},
	"wrapped":         {"INSUFFICIENT_PERMISSIONS", `{"message":"the drill wraps: permission denied","code":null,"name":"Error"}`},
	"legacy":          {"HASH_MISMATCH", `{"message":"a legacy error","code":"HASH_MISMATCH","name":"legacyError"}`},
	"foreign_rule":    {"INVARIANT_VIOLATION", `{"message":"the drill","code":null,"name":"Error"}`},
	"silent":          {"UNKNOWN_TOOL_FAILURE", `null`},
	"uncoded":         {"UNCODED_ERROR", `null`},
	"panic":           {"INTERNAL_ERROR", `{"message":"the drill panicked with an error","code":null,"name":"Error"}`},
	"panic_text":      {"INTERNAL_ERROR", `"the drill panicked with a text"`},
	"panic_nil":       {"INTERNAL_ERROR", `{"message":"panic called with nil argument","code":null,"name":"PanicNilError"}`},
	"panic_pointer":   {"INTERNAL_ERROR", ""},
	"panic_value":     {"INTERNAL_ERROR", ""},
	"cyclic":          {"INTERNAL_ERROR", `{"message":"a cause of a cyclic failure","code":null,"name":"Error"}`},
	"huge":            {"INTERNAL_ERROR", ""},
	"invariant":       {"INVARIANT_VIOLATION", `{"message":"the drill","code":null,"name":"Error"}`},
	"panic_invariant": {"INVARIANT_VIOLATION", `{"message":"the drill","code":null,"name":"Error"}`},
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
		envelope := c.drill(kind).enveloped(thrown[kind].code)
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

func TestK7ACauseIsSafeAndBounded(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.executor("--drill")
	for _, kind := range c.kinds() {
		a := c.drill(kind)
		cause := a.system().Path("cause")
		if want := thrown[kind].cause; want != "" && string(cause.Raw()) != want {
			t.Errorf("%s: the cause is %s, want %s", kind, cause.Raw(), want)
		}
		names, _ := members(cause)
		if cause.Type() == wire.TypeObject && !slices.Equal(names, []string{"message", "code", "name"}) {
			t.Errorf("%s: a cause has %v", kind, names)
		}
		if !json.Valid(a.m.Bytes()) || len(a.m.Bytes()) > 32<<10 {
			t.Errorf("%s: %d bytes, which are JSON: %v", kind, len(a.m.Bytes()), json.Valid(a.m.Bytes()))
		}
		message, _ := cause.Path("message").Str()
		if human, _ := a.system().Path("human_message").Str(); len(message) > limits.Cause || len(human) > limits.Message {
			t.Errorf("%s: the cause has %d bytes and the message %d", kind, len(message), len(human))
		}
	}
	for kind, find := range map[string]func(a answer) string{ // parts that can be encoded as JSON are kept
		"cyclic":      func(a answer) string { return string(a.canonical().Path("details").Raw()) },
		"panic_value": func(a answer) string { said, _ := a.system().Path("cause", "message").Str(); return said },
		"huge":        func(a answer) string { said, _ := a.system().Path("cause", "message").Str(); return said },
	} {
		part := map[string]string{"huge": "a huge cause a huge cause"}[kind]
		if part == "" {
			part = `"name":"loop"`
		}
		if said := find(c.drill(kind)); !strings.Contains(said, part) {
			t.Errorf("%s: nothing is left of it: %q", kind, said)
		}
	}
	missing := c.call("read_file", args{"path": "none"})
	if cause := missing.system().Path("cause"); !cause.Path("code").Is("ENOENT") || !cause.Path("name").Is("PathError") {
		t.Errorf("the cause of a missing file is %s", cause.Raw())
	}
}

// TestK8AnErrorOfAnotherKindKeepsItsCode returns an error of an older type with a registered code, in every dialect of
// the server.
func TestK8AnErrorOfAnotherKindKeepsItsCode(t *testing.T) {
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoken := dialect.Must(name)
			if name == "problem" {
				spoken = dialect.Must("candor") // a problem document is an HTTP body, not a JSON-RPC message
			}
			c := newEnv(t).executor("--drill", "--dialect", name)
			for kind, code := range map[string]candor.Code{
				"legacy": kaizacode.HashMismatch, "wrapped": kaizacode.InsufficientPermissions, "invariant": kaizacode.InvariantViolation,
			} {
				a := c.drill(kind)
				a.is(code.Symbol())
				if domain, _ := a.canonical().Path("domain").Str(); domain != "kaiza" {
					t.Errorf("%s is of the domain %q", code, domain)
				}
				e, err := spoken.Read(a.m.Value())
				if err != nil || e.Code() != code {
					t.Errorf("who reads %s finds %v, %v: %s", name, e, err, a.m.Bytes())
				}
			}
		})
	}
}
