package cases

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
)

// TestOptionalIDsThatNameNothing checks that made-up ids have a form that the schema accepts, and that tools that may
// not run do not get them.
func TestOptionalIDsThatNameNothing(t *testing.T) {
	tool := probe.Tool{Name: "task_list", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["title"],"properties":{
		"title":{"type":"string"},"agentId":{"type":"string","pattern":"^[a-z-]+$"},"limit":{"type":"integer"},"idle":{"type":"string"},
		"parent_id":{"type":"string","pattern":"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"}}}`)}
	find := func(o Options) string {
		planned, _ := Plan([]probe.Tool{tool}, o)
		for _, c := range planned {
			if c.Name == probe.CaseUnknownIDs {
				if c.Expect != probe.ExpectAnswer {
					t.Errorf("it expects %s", c.Expect)
				}
				return string(c.Params)
			}
		}
		return ""
	}
	got := find(Options{Yes: true})
	if !strings.Contains(got, `"agentId":"zz-nonexistent"`) || !strings.Contains(got, `"parent_id":"00000000-0000-4000-8000-000000000000"`) ||
		strings.Contains(got, "idle") || strings.Contains(got, "limit") {
		t.Errorf("got %s", got)
	}
	if got := find(Options{}); got != "" {
		t.Errorf("without permission: %s", got)
	}
}
