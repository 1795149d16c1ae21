package boundary

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/teach"
)

// tool is what the boundary knows of one tool of the server.
type tool struct {
	listed *mcp.Tool
	input  *schema.Schema // nil if it cannot be used
	output *schema.Schema // nil if there is none, or it cannot be used
	codes  []candor.Code  // that it declared
}

// schemas is shared by all servers of the process: many of them have the same tools.
var schemas schema.Cache

// toolbox is a copy of the server's list of tools. The SDK has no way to ask for one tool, so the list is asked for when
// a name is not in it, when the server says that it has changed, and before anybody is refused.
type toolbox struct {
	listed func(names []string) // is told the names each time, if it is not nil
	known  atomic.Pointer[map[string]*tool]
	mu     sync.Mutex // one asks at a time
	missed time.Time  // when a name was last not found: unknown names must not cost a listing each
}

const (
	missPause = 100 * time.Millisecond
	maxPages  = 1000
)

// find returns the tool that is called, or nil.
func (t *toolbox) find(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) *tool {
	if known := t.known.Load(); known != nil {
		if found, ok := (*known)[req.Params.Name]; ok {
			return found
		}
	}
	return t.search(ctx, next, req)
}

func (t *toolbox) search(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) *tool {
	t.mu.Lock()
	if t.known.Load() != nil && time.Since(t.missed) < missPause {
		t.mu.Unlock()
		return nil
	}
	t.missed = time.Now()
	t.mu.Unlock()
	return t.again(ctx, next, req)
}

// again asks the server for its tools and returns the one that is called.
func (t *toolbox) again(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) *tool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.known.Load()
	known := map[string]*tool{}
	list := &mcp.ListToolsRequest{Session: req.Session, Extra: req.Extra, Params: &mcp.ListToolsParams{Meta: req.Params.Meta}}
	for range maxPages {
		result, err := listTools(ctx, next, list)
		if err != nil || result == nil {
			break
		}
		for _, listed := range result.Tools {
			known[listed.Name] = t.describe(listed, before)
		}
		if result.NextCursor == "" {
			break
		}
		list.Params.Cursor = result.NextCursor
	}
	t.known.Store(&known)
	if t.listed != nil {
		t.listed(t.names())
	}
	return known[req.Params.Name]
}

// listTools is the one call of a handler whose failure only means that nothing is known of the tools.
func listTools(ctx context.Context, next mcp.MethodHandler, list *mcp.ListToolsRequest) (result *mcp.ListToolsResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, candor.FromUnknown(v)
		}
	}()
	got, err := next(ctx, "tools/list", list)
	if err != nil {
		return nil, err
	}
	result, _ = got.(*mcp.ListToolsResult)
	return result, nil
}

func (t *toolbox) describe(listed *mcp.Tool, before *map[string]*tool) *tool {
	if before != nil {
		if same, ok := (*before)[listed.Name]; ok && same.listed == listed {
			return same
		}
	}
	return &tool{
		listed: listed,
		input:  compile(listed.InputSchema),
		output: compile(listed.OutputSchema),
		codes:  declaredCodes(listed),
	}
}

// compile returns nil for a schema that cannot be read: a tool whose schema is broken still works.
func compile(v any) *schema.Schema {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "null" {
		return nil
	}
	s, err := schemas.Get(raw)
	if err != nil {
		return nil
	}
	return s
}

func (t *toolbox) forget() { t.known.Store(nil) }

func (t *toolbox) names() []string {
	known := t.known.Load()
	if known == nil {
		return nil
	}
	names := make([]string, 0, len(*known))
	for name := range *known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// accepts reports whether the arguments are certainly good.
func (t *tool) accepts(arguments []byte) bool {
	return t.input == nil || t.input.Accepts(arguments)
}

// explain returns what is wrong with the arguments, or nil.
func (t *tool) explain(arguments []byte) *candor.Error {
	if t.input == nil {
		return nil
	}
	return teach.Arguments(t.input, arguments, candor.PartyServer)
}

// checkOutput holds a successful result against the schema that the tool promised. A tool that the server does not list
// promised nothing.
func (t *tool) checkOutput(result *mcp.CallToolResult) *candor.Error {
	if t == nil || t.output == nil || result.NeedsInput() || len(result.InputRequests) > 0 {
		return nil
	}
	raw, ok := result.StructuredContent.(json.RawMessage)
	if !ok && result.StructuredContent != nil {
		raw, _ = json.Marshal(result.StructuredContent)
	}
	if len(raw) > 0 && t.output.Accepts(raw) {
		return nil
	}
	return t.outputError(raw)
}

func (t *tool) outputError(raw []byte) *candor.Error {
	tool := candor.WithOrigin(candor.PartyTool, false)
	if len(raw) == 0 {
		return candor.New(candor.CodeOutputInvalid, "The tool promised structured content and returned none.", tool)
	}
	report := t.output.Explain(raw)
	if report.OK() {
		return nil
	}
	return candor.New(candor.CodeOutputInvalid, "", tool, candor.WithIssues(report.Issues...))
}
