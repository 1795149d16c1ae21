package mcpgo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/adapters/mcpgo"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/wire"
)

// books is a ledger and a meter to compare with the answers.
type books struct {
	mu                          sync.Mutex
	entries                     []*candor.Error
	envelopes                   []string
	counts, suppressed, success int
	full                        bool
	quiet                       chan struct{} // is sent the first suppressed failure, which is counted last; may be nil
}

func (b *books) RecordFailure(_ context.Context, f candor.Failure) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return errors.New("no space left on the device")
	}
	b.entries = append(b.entries, f.Error)
	b.envelopes = append(b.envelopes, string(f.Sent))
	return nil
}

func (b *books) RecordSuccess(context.Context, candor.Success) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.success++
	return nil
}

func (b *books) Count(*candor.Error, string)   { b.mu.Lock(); b.counts++; b.mu.Unlock() }
func (b *books) CountUnrecorded(*candor.Error) {}

func (b *books) CountSuppressed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.suppressed++
	select {
	case b.quiet <- struct{}{}:
	default:
	}
}

func (b *books) AppendStats(dst []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Appendf(dst, `{"total":%d}`, b.counts)
}

func (b *books) totals() (entries, counts, suppressed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries), b.counts, b.suppressed
}

var schema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"mode":{"enum":["r","w"]}},"required":["path"]}`)

// tools returns the tools for the table of mcp-go's answers.
func tools() map[string]server.ToolHandlerFunc {
	failing := func(err error) server.ToolHandlerFunc {
		return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, err }
	}
	return map[string]server.ToolHandlerFunc{
		"plain":  failing(errors.New("disk on fire")),
		"typed":  failing(fmt.Errorf("deep down: %w", candor.RetryableAfter(kaiza.FileNotFound, 2e9, "No such note."))),
		"coded":  failing(&jsonrpc.Error{Code: 2100, Message: "Navigation failed"}),
		"panics": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret state") },
		"empty":  func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil },
		"late":   failing(context.DeadlineExceeded),
		"nan": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: map[string]any{"x": math.NaN()}}, nil
		},
		"reports": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("404 page not found"), nil
		},
		"liar": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultStructuredOnly(map[string]any{"id": 7}), nil
		},
		"fine": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("ok"), nil
		},
	}
}

func demo() *server.MCPServer {
	s := server.NewMCPServer("test", "1", server.WithPromptCapabilities(false), server.WithResourceCapabilities(false, false))
	for name, handle := range tools() {
		tool := mcp.NewTool(name)
		if name == "liar" {
			tool.RawOutputSchema = json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)
		}
		s.AddTool(tool, handle)
	}
	s.AddTool(mcp.NewToolWithRawSchema("strict", "", schema), tools()["fine"])
	s.AddPrompt(mcp.NewPrompt("explodes"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { panic("prompt") })
	return s
}

// path sends a message to the server over one transport and returns the next answer.
type path func(message string) string

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func paths() map[string]func(testing.TB, *mcpgo.Server) path {
	return map[string]func(testing.TB, *mcpgo.Server) path{
		"stdio": func(t testing.TB, s *mcpgo.Server) path {
			send, receive := stdio(t, s)
			send(hello)
			receive()
			return func(message string) string { send(message); return receive() }
		},
		"http": func(t testing.TB, s *mcpgo.Server) path {
			web := httptest.NewServer(s.HTTP(server.WithStateLess(true)))
			t.Cleanup(web.Close)
			return func(message string) string { return post(t, web.URL, message) }
		},
	}
}

// stdio serves over pipes.
func stdio(t testing.TB, s *mcpgo.Server) (send func(string), receive func() string) {
	t.Helper()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.ServeStdio(t.Context(), far, far) }()
	lines := bufio.NewReader(near)
	t.Cleanup(func() {
		_ = near.Close()
		if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("serving ended with %v", err)
		}
	})
	send = func(message string) {
		t.Helper()
		if _, err := io.WriteString(near, message+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return send, func() string {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
}

func post(t testing.TB, url, message string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(message)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(body))
}

func call(id int, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

func open(t testing.TB, o boundary.Options) (*mcpgo.Server, *books) {
	t.Helper()
	b := &books{}
	o.Ledger, o.Meter = b, b
	o.Logger = slog.New(slog.DiscardHandler)
	return mcpgo.Wrap(demo(), o), b
}

// envelope returns the error in an answer, which may be in a result or a JSON-RPC error.
func envelope(t testing.TB, answer string) wire.Value {
	t.Helper()
	m := wire.Parse([]byte(answer), wire.Limits{})
	if m.Kind() != wire.KindResult && m.Kind() != wire.KindError && m.ID() != nil {
		t.Fatalf("no answer: %s", answer)
	}
	if own := m.Result().Path("_meta", "dev.candor/error"); own.Present() {
		return own
	}
	return m.Error().Path("data", "dev.candor/error")
}
