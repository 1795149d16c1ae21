package cases_test

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/cases"
)

// TestAToolThatMayRunGetsOnePlainCall has arguments as a person would write them, of tools that only read and of one that may write.
func TestAToolThatMayRunGetsOnePlainCall(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"name":{"type":"string","examples":["alpha"]},"sourceUrl":{"type":"string"},"startDate":{"type":"string"},
		"kind":{"type":"string","enum":["error","page"]},"user":{"type":"object","properties":{"email":{"type":"string"},"id":{"type":"integer"}},"required":["email","id"]},
		"count":{"type":"integer","minimum":3},"note":{"type":"string"}},"required":["name","sourceUrl","startDate","kind","user","count"]}`
	all, _ := cases.Plan([]probe.Tool{tool("get", schema, true)}, cases.Options{NoProtocol: true})
	c := named(all, probe.CaseValid)
	if c == nil {
		t.Fatal("no such call is planned")
	}
	const want = `{"name":"alpha","sourceUrl":"https://example.com/","startDate":"2024-01-01","kind":"page","user":{"email":"user@example.com","id":1},"count":3}`
	if arguments(c) != want || c.Expect != probe.ExpectAnswer || c.Group != probe.GroupDomain {
		t.Errorf("planned %s, %s, want %s", arguments(c), c.Expect, want)
	}
	if all, _ := cases.Plan([]probe.Tool{tool("file_issue", schema, false)}, cases.Options{NoProtocol: true}); named(all, probe.CaseValid) != nil {
		t.Error("a tool that may write is called for real")
	}
	// Where the other sound call is plain already, one is enough.
	if all, _ := cases.Plan([]probe.Tool{tool("add", `{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}`, true)}, cases.Options{NoProtocol: true}); named(all, probe.CaseValid) != nil {
		t.Error("the same call is planned twice")
	}
}
