package boundary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// fakeEntry is one call of RecordFailure.
type fakeEntry struct {
	err      *candor.Error
	verdict  string
	method   string
	envelope string
	client   string
}

// fakeLedger stores the failures it is given. With refuse set it stores nothing.
type fakeLedger struct {
	mu      sync.Mutex
	entries []fakeEntry
	refuse  error
	told    chan struct{} // if not nil, receives one value for each entry
}

func (l *fakeLedger) RecordFailure(_ context.Context, f candor.Failure) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse != nil {
		return l.refuse
	}
	l.entries = append(l.entries, fakeEntry{f.Error, f.Verdict, f.Method, string(f.Sent), f.Client})
	if l.told != nil {
		l.told <- struct{}{}
	}
	return nil
}

func (l *fakeLedger) all() []fakeEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]fakeEntry(nil), l.entries...)
}

// fakeMeter is a meter that counts calls.
type fakeMeter struct {
	mu                            sync.Mutex
	total, suppressed, unrecorded int
	byCode                        map[candor.Code]int
}

func (m *fakeMeter) Count(err *candor.Error, _ string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byCode == nil {
		m.byCode = map[candor.Code]int{}
	}
	m.total++
	m.byCode[err.Code()]++
}

func (m *fakeMeter) CountSuppressed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.suppressed++
}

func (m *fakeMeter) CountUnrecorded(*candor.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unrecorded++
}

func (m *fakeMeter) counts() (total, suppressed, unrecorded int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total, m.suppressed, m.unrecorded
}

// unpaged is a type that cannot be encoded as JSON.
type unpaged struct{}

func (unpaged) MarshalJSON() ([]byte, error) { return nil, errors.New("cannot be written") }

type rowIn struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	N    int    `json:"n"`
}

// rowServer returns a server with tools that fail in every possible way.
func rowServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "rows", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}})
	addTypedTools(s)
	addRawTools(s)
	s.AddResource(&mcp.Resource{Name: "broken", URI: "file:///broken"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return nil, errors.New("backend exploded")
		})
	s.AddPrompt(&mcp.Prompt{Name: "broken"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("backend exploded")
	})
	return s
}

func addTypedTools(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{Name: "typed", InputSchema: &jsonschema.Schema{Type: "object",
		Required: []string{"path", "mode"},
		Properties: map[string]*jsonschema.Schema{"path": {Type: "string"}, "mode": {Type: "string", Enum: []any{"r", "w"}},
			"n": {Type: "integer"}}}},
		func(_ context.Context, _ *mcp.CallToolRequest, in rowIn) (*mcp.CallToolResult, any, error) {
			switch in.Path {
			case "fire":
				return nil, nil, errors.New("disk on fire")
			case "navigate":
				return nil, nil, fmt.Errorf("while navigating: %w", navigation())
			}
			return text("read " + in.Path), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "nan"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return nil, map[string]any{"x": math.NaN()}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "promises", OutputSchema: &jsonschema.Schema{Type: "object", Required: []string{"id"},
		Properties: map[string]*jsonschema.Schema{"id": {Type: "string", MinLength: new(int)}, "n": {Type: "integer"}}}},
		func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
			return nil, map[string]any{"id": 7}, nil
		})
}

func addRawTools(s *mcp.Server) {
	raw := func(name string, handle mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: &jsonschema.Schema{Type: "object"}}, handle)
	}
	raw("fine", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("fine"), nil })
	raw("plain", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("disk on fire")
	})
	raw("nothing", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	raw("panics", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text([]string{"a", "b"}[len(req.Params.Name)]), nil
	})
	raw("rpc", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, navigation() })
	raw("unwritable", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := text("fine")
		r.Meta = mcp.Meta{"com.example/x": unpaged{}}
		return r, nil
	})
	raw("coded", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, candor.New(candor.CodeRateLimited, "Too fast.")
	})
	raw("waits", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	raw("asks", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		roots, err := req.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, err
		}
		return text(fmt.Sprint(len(roots.Roots), " roots")), nil
	})
}

func navigation() error {
	return &jsonrpc.Error{Code: 2100, Message: "Navigation failed",
		Data: []byte(`{"domain":"playwright","symbol":"E_PW_NAV","retryable":true}`)}
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
