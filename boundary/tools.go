package boundary

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/schema"
)

// tool describes one tool of the server.
type tool struct {
	listed *mcp.Tool
	input  *schema.Schema // nil if it cannot be compiled
	output *schema.Schema // nil if missing or if it cannot be compiled
}

// schemas is shared by all servers of the process, because many of them have the same tools.
var schemas schema.Cache

// toolbox is a cache of the server's list of tools. The SDK cannot look up one tool, and reports changes only to sessions. Therefore
// the list is requested when it lacks a name, after the server announced a change, when it is older than maxListAge, and before
// arguments are refused.
type toolbox struct {
	b     *Boundary
	known atomic.Pointer[toolList]
	mu    sync.Mutex // held while the list is requested
}

// toolList is the server's list and the time of the request.
type toolList struct {
	tools map[string]*tool
	at    time.Time
}

const (
	maxListAge = time.Second            // an older list is requested again
	minListAge = 100 * time.Millisecond // a younger list is not requested again, so that not every bad call costs a listing
	maxPages   = 1000
)

// find returns the tool that is called, or nil.
func (t *toolbox) find(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) *tool {
	list := t.known.Load()
	if list == nil {
		return t.again(ctx, next, req)
	}
	found, ok := list.tools[req.Params.Name]
	if ok && time.Since(list.at) < maxListAge {
		return found
	}
	if ok && !t.mu.TryLock() { // another goroutine is requesting the list
		return found
	}
	if ok {
		t.mu.Unlock()
	}
	return t.again(ctx, next, req)
}

// again requests the server's tools, unless the list is younger than minListAge, and returns the tool that is called, or nil.
func (t *toolbox) again(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) *tool {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.known.Load()
	if list == nil || time.Since(list.at) >= minListAge {
		if fresh := t.ask(ctx, next, req, list); fresh != nil {
			list = fresh
			t.known.Store(list)
			if labels, ok := t.b.o.Meter.(interface{ SetTools(names ...string) }); ok {
				labels.SetTools(t.names()...) // only listed tools get their own label
			}
		}
	}
	if list == nil {
		return nil
	}
	return list.tools[req.Params.Name]
}

// ask returns the server's tools, or nil if the listing fails.
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

// listTools requests one page of tools. Unlike the failures of other handlers, its failure is not recorded.
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
	}
}

// compile returns the compiled schema, or nil if it is missing or cannot be compiled, which is logged. A tool with a broken schema
// still works.
func (t *toolbox) compile(tool, which string, v any) *schema.Schema {
	s, err := readSchema(v)
	if err != nil {
		t.b.o.Logger.Warn("a schema cannot be used, so nothing is checked against it",
			slog.String("tool", candor.Public(tool, limits.CallInfo)), slog.String("schema", which), slog.Any("error", candor.From(err)))
	}
	return s
}

// readSchema compiles a schema in any form that the SDK accepts. It returns nil for a missing one.
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
	return slices.Sorted(maps.Keys(list.tools))
}

// accepts reports whether the arguments are certainly valid.
func (t *tool) accepts(arguments []byte) bool {
	return t.input == nil || t.input.Accepts(arguments)
}

// explain returns the error for invalid arguments, or nil.
func (t *tool) explain(arguments []byte) *candor.Error {
	if t.input == nil {
		return nil
	}
	return argerror.Arguments(t.input, arguments, candor.PartyServer)
}

// checkOutput validates a successful result against the output schema of the tool. It returns nil for a tool that the server does not
// list.
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
	if report.OK() || report.Unchecked { // the call has taken effect, and the result may be valid
		return nil
	}
	return candor.New(candor.CodeOutputInvalid, "", tool, candor.WithIssues(report.Issues...))
}
