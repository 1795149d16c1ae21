package workbench

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
)

// Tool is one tool of a system. Registering it here is the only way to get one in: what it can raise is part of it.
type Tool struct {
	Name  string
	Title string
	About string // for the model
	// Input is the properties of its arguments, a JSON object of schemas. Nothing else is accepted but session_id, where the system has sessions.
	Input    string
	Required []string
	Codes    []candor.Code // that it can raise, besides those that any call can

	ReadOnly    bool // it changes nothing
	Idempotent  bool // a second time changes nothing more
	Destructive bool // it may overwrite or remove
	OpenWorld   bool // it reaches systems outside of this server

	Run func(ctx context.Context, c *Call) (Reply, error)
}

// Reply is what a tool that went well says: blocks of text, and the same for programs.
type Reply struct {
	Text []string
	Data any // becomes structuredContent; nil is none
}

// Handle makes a Run of a function that takes its arguments decoded. They have passed the schema.
func Handle[In any](run func(ctx context.Context, c *Call, in In) (Reply, error)) func(context.Context, *Call) (Reply, error) {
	return func(ctx context.Context, c *Call) (Reply, error) {
		var in In
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return Reply{}, candor.New(candor.CodeInvalidArguments, "", candor.WithCause(err))
		}
		return run(ctx, c, in)
	}
}

// sessionProperty is accepted by every tool of a system with sessions: over HTTP without protocol sessions it is how a call says where it belongs.
const sessionProperty = `{"type":"string","maxLength":64,"description":"The id that begin_session returned. Needed only over HTTP without a protocol session."}`

// listed is the tool as clients see it.
func (t *Tool) listed(sessionless bool) (*mcp.Tool, error) {
	properties := map[string]json.RawMessage{}
	if t.Input != "" {
		if err := json.Unmarshal([]byte(t.Input), &properties); err != nil {
			return nil, fmt.Errorf("the input of %s: %w", t.Name, err)
		}
	}
	if !sessionless {
		properties["session_id"] = json.RawMessage(sessionProperty)
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(t.Required) > 0 {
		schema["required"] = t.Required
	}
	return boundary.Declare(&mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.About, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.ReadOnly, IdempotentHint: t.Idempotent, DestructiveHint: &t.Destructive, OpenWorldHint: &t.OpenWorld,
		},
	}, t.Codes...), nil
}

// result is the reply as the protocol wants it.
func (r Reply) result() *mcp.CallToolResult {
	result := &mcp.CallToolResult{Content: make([]mcp.Content, 0, len(r.Text))}
	for _, text := range r.Text {
		result.Content = append(result.Content, &mcp.TextContent{Text: text})
	}
	if r.Data != nil {
		result.StructuredContent = r.Data
	}
	return result
}
