package boundary

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
)

// TestClientThatNamesItselfGetsItsForm checks structured content and the envelope of a failing tool for clients that show different
// parts of a result, and an SDK that passes the name on.
func TestClientThatNamesItselfGetsItsForm(t *testing.T) {
	const rows = `{"rows":[1,2],"token":"[redacted:secret]"}`
	for _, c := range []struct {
		name, structured, moved string
		brief                   bool
	}{
		{"codex-mcp-client", "", rows, false}, {"c", "", rows, false}, {"claude-code", rows, "", false}, {"gemini-cli-mcp-client", rows, "", true},
	} {
		server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
		server.AddTool(&mcp.Tool{Name: "fail", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "Error: disk on fire"}, &mcp.TextContent{Text: "at 9"}},
				StructuredContent: map[string]any{"rows": []int{1, 2}, "token": "sk-proj-abcdefghijklmnopqrstuvwx0123456789ABCDEF"}}, nil
		})
		trail := &fakeLedger{}
		b := Install(server, Options{Ledger: trail})
		near, far := mcp.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), near, nil); err != nil {
			t.Fatal(err)
		}
		s, err := mcp.NewClient(&mcp.Implementation{Name: c.name, Version: "1"}, nil).Connect(t.Context(), far, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "fail", Arguments: map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		other, failure := b.CallTool(t.Context(), Call{Tool: "fail", Client: c.name}, func(context.Context) (json.RawMessage, error) {
			return json.RawMessage(`{"content":[{"type":"text","text":"Error: disk on fire"},{"type":"text","text":"at 9"}],"isError":true,"structuredContent":{"rows":[1,2],"token":"sk-proj-abcdefghijklmnopqrstuvwx0123456789ABCDEF"}}`), nil
		})
		if failure == nil {
			t.Fatal("no failure")
		}
		var second mcp.CallToolResult
		if err := json.Unmarshal(other, &second); err != nil {
			t.Fatal(err)
		}
		for _, entry := range trail.all() {
			if want := contract.ClientOf(c.name).Name; entry.client != want {
				t.Errorf("%s: recorded as %q, want %q", c.name, entry.client, want)
			}
		}
		for _, r := range []*mcp.CallToolResult{got, &second} {
			envelope, _ := r.Meta[dialect.MetaKey].(map[string]any)
			details, _ := envelope["details"].(map[string]any)
			if s := asJSON(r.StructuredContent); s != c.structured {
				t.Errorf("%s: structuredContent %s, want %s", c.name, s, c.structured)
			}
			if s := asJSON(details["structuredContent"]); s != c.moved {
				t.Errorf("%s: details.structuredContent %s, want %s", c.name, s, c.moved)
			}
			if _, full := envelope["message"]; envelope["ref"] == nil || full == c.brief {
				t.Errorf("%s: %v", c.name, envelope)
			}
			if first, _ := r.Content[0].(*mcp.TextContent); len(r.Content) != 2 || !strings.HasSuffix(first.Text, "\n") {
				t.Errorf("%s: content %v", c.name, asJSON(r.Content))
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// asJSON returns a value as JSON, or "" for nil.
func asJSON(v any) string {
	if v == nil {
		return ""
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
