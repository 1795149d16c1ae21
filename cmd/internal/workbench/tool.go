package workbench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/internal/jsontext"
)

// Tool is one tool of a system.
type Tool struct {
	Name  string
	Title string
	About string // for the model
	// Input is the JSON object of the argument schemas. Other arguments are refused, except session_id in a system with sessions.
	Input    string
	Required []string
	Codes    []candor.Code // codes that it can raise, besides those common to all calls

	ReadOnly    bool // changes nothing
	Idempotent  bool // repeating a call changes nothing more
	Destructive bool // may overwrite or remove data
	OpenWorld   bool // reaches other systems

	Run func(ctx context.Context, c *Call) (Reply, error)
}

// Reply is the result of a successful tool call.
type Reply struct {
	Text []string // one content block each
	Data any      // structuredContent; nil for none

	Image     []byte // an image block before the texts; nil for none
	MediaType string // of the image
}

// Handle returns a Run function that decodes the arguments, which have passed the schema, and calls run.
func Handle[In any](run func(ctx context.Context, c *Call, in In) (Reply, error)) func(context.Context, *Call) (Reply, error) {
	return func(ctx context.Context, c *Call) (Reply, error) {
		var in In
		if err := jsontext.UnmarshalWhole(c.Arguments, &in); err != nil { // a number beyond the type of its field; the schema should refuse it
			return Reply{}, candor.New(candor.CodeInvalidArguments, "", candor.WithCause(err), candor.WithIssues(candor.Issue{Rule: "range", Message: "has a number that is too large"}))
		}
		return run(ctx, c, in)
	}
}

// Drill returns a tool that fails on request, to test how a client reacts. kinds are the ways to fail; codes are those that
// they raise.
func Drill(kinds map[string]func(ctx context.Context) error, codes ...candor.Code) Tool {
	names := `"` + strings.Join(slices.Sorted(maps.Keys(kinds)), `","`) + `"`
	type drillArgs struct {
		Kind string `json:"kind"`
	}
	return Tool{
		Name: "drill", Title: "Fail on request", Required: []string{"kind"}, Codes: codes,
		About: "Fail in a chosen way, to see what a client makes of it. It is offered only where the operator asked for it.",
		Input: `{"kind":{"type":"string","enum":[` + names + `]}}`,
		Run: Handle(func(ctx context.Context, _ *Call, in drillArgs) (Reply, error) {
			return Reply{}, kinds[in.Kind](ctx)
		}),
	}
}

// sessionProperty is the schema of session_id, with which a call over HTTP without protocol sessions names its session.
const sessionProperty = `{"type":"string","maxLength":64,"description":"The id that begin_session returned. Needed only over HTTP without a protocol session."}`

// listed returns the tool as tools/list shows it.
func (t *Tool) listed(sessionless bool) (*mcp.Tool, error) {
	properties := map[string]json.RawMessage{}
	if t.Input != "" {
		if err := json.Unmarshal([]byte(t.Input), &properties); err != nil {
			return nil, fmt.Errorf("tool %s: input schema: %w", t.Name, err)
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

// result converts the reply to a protocol result.
func (r Reply) result() *mcp.CallToolResult {
	result := &mcp.CallToolResult{Content: make([]mcp.Content, 0, len(r.Text))}
	if r.Image != nil {
		result.Content = append(result.Content, &mcp.ImageContent{Data: r.Image, MIMEType: r.MediaType})
	}
	for _, text := range r.Text {
		result.Content = append(result.Content, &mcp.TextContent{Text: text})
	}
	if r.Data != nil {
		result.StructuredContent = r.Data
	}
	return result
}
