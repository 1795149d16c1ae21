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

// toolbox is a copy of the server's list of tools. The SDK has no way to ask for one tool, and tells of changes only where there are
// sessions; so the list is asked for when a name is not in it, when the server says that it has changed, when it is old, and
// before anybody is refused.
type toolbox struct {
	listed  func(names []string)                // is told the names each time, if it is not nil
	trouble func(tool, which string, err error) // is told of a schema that cannot be used, if it is not nil
	known   atomic.Pointer[toolList]
	mu      sync.Mutex // one asks at a time
}

// toolList is what the server said, and when.
type toolList struct {
	tools map[string]*tool
	at    time.Time
}

const (
	listRest  = time.Second            // a list that old is asked for again
	listPause = 100 * time.Millisecond // a list that young is believed, so that bad calls do not cost a listing each
	maxPages  = 1000
)

// find returns the tool that is called, or nil.
func (t *toolbox) find(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) *tool {
	list := t.known.Load()
	if list == nil {
		return t.again(ctx, next, req)
	}
	found, ok := list.tools[req.Params.Name]
	if ok && time.Since(list.at) < listRest {
		return found
	}
	if ok && !t.mu.TryLock() { // somebody is asking
		return found
	}
	if ok {
		t.mu.Unlock()
	}
	return t.again(ctx, next, req)
}

// again asks the server for its tools, unless it has just been asked, and returns the one that is called.
func (t *toolbox) again(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) *tool {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.known.Load()
	if list == nil || time.Since(list.at) >= listPause {
		if fresh := t.ask(ctx, next, req, list); fresh != nil {
			list = fresh
			t.known.Store(list)
			if t.listed != nil {
				t.listed(t.names())
			}
		}
	}
	if list == nil {
		return nil
	}
	return list.tools[req.Params.Name]
}

// ask returns what the server lists, nil if it does not tell all of it.
func (t *toolbox) ask(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest, before *toolList) *toolList {
	list := &toolList{tools: map[string]*tool{}, at: time.Now()}
	page := &mcp.ListToolsRequest{Session: req.Session, Extra: req.Extra, Params: &mcp.ListToolsParams{Meta: req.Params.Meta}}
	for range maxPages {
		result, err := listTools(ctx, next, page)
		if err != nil || result == nil {
			return nil
		}
		for _, listed := range result.Tools {
			list.tools[listed.Name] = t.describe(listed, before)
		}
		if result.NextCursor == "" {
			return list
		}
		page.Params.Cursor = result.NextCursor
	}
	return nil
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

func (t *toolbox) describe(listed *mcp.Tool, before *toolList) *tool {
	if before != nil {
		if same, ok := before.tools[listed.Name]; ok && same.listed == listed {
			return same
		}
	}
	return &tool{
		listed: listed,
		input:  t.compile(listed.Name, "inputSchema", listed.InputSchema),
		output: t.compile(listed.Name, "outputSchema", listed.OutputSchema),
		codes:  declaredCodes(listed),
	}
}

// compile returns nil for a schema that cannot be read: a tool whose schema is broken still works, and somebody is told.
func (t *toolbox) compile(tool, which string, v any) *schema.Schema {
	s, err := readSchema(v)
	if err != nil && t.trouble != nil {
		t.trouble(tool, which, err)
	}
	return s
}

// readSchema compiles a schema in whatever form the SDK holds it; nil if there is none.
func readSchema(v any) (*schema.Schema, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	return schemas.Get(raw)
}

func (t *toolbox) forget() { t.known.Store(nil) }

func (t *toolbox) names() []string {
	list := t.known.Load()
	if list == nil {
		return nil
	}
	names := make([]string, 0, len(list.tools))
	for name := range list.tools {
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
