package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// tally is a ledger and a meter that remember.
type tally struct {
	mu         sync.Mutex
	entries    []*candor.Error
	methods    []string
	counts     int
	suppressed int
	unrecorded int
	full       error // what the ledger refuses with
}

func (l *tally) RecordFailure(_ context.Context, e *candor.Error, _, method string, _, _ []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full != nil {
		return l.full
	}
	l.entries, l.methods = append(l.entries, e), append(l.methods, method)
	return nil
}

func (l *tally) Count(*candor.Error, string) { l.mu.Lock(); defer l.mu.Unlock(); l.counts++ }
func (l *tally) CountSuppressed()            { l.mu.Lock(); defer l.mu.Unlock(); l.suppressed++ }
func (l *tally) CountUnrecorded(*candor.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unrecorded++
}

func (l *tally) totals() (entries, counts, suppressed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries), l.counts, l.suppressed
}

func (l *tally) last() *candor.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == 0 {
		return nil
	}
	return l.entries[len(l.entries)-1]
}

var quiet = slog.New(slog.DiscardHandler)

type echoIn struct {
	Text string `json:"text"`
}

// demoServer has a tool for each way to fail.
func demoServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "demo", Version: "1"}, &mcp.ServerOptions{Logger: quiet})
	typed := func(name string, f func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, any, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			return f(ctx, r)
		})
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in echoIn) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	typed("plain", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("disk on fire")
	})
	typed("panics", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, any, error) {
		panic("assignment to entry in nil map")
	})
	typed("numbered", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, any, error) {
		return nil, nil, &jsonrpc.Error{Code: 2100, Message: "Navigation failed", Data: json.RawMessage(`{"domain":"playwright","symbol":"E_PW_NAV","retryable":true}`)}
	})
	raw := func(name string, f mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, f)
	}
	raw("raw", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("disk on fire")
	})
	raw("nothing", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	raw("wrapped", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("while navigating: %w", &jsonrpc.Error{Code: 2100, Message: "Navigation failed", Data: json.RawMessage(`{"a":1}`)})
	})
	raw("unencodable", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Meta: mcp.Meta{"x": func() {}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "liar", InputSchema: json.RawMessage(`{"type":"object"}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: map[string]any{"id": 7}}, nil
		})
	s.AddResource(&mcp.Resource{URI: "file:///broken", Name: "broken"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, errors.New("backend exploded")
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("backend exploded")
	})
	return s
}

// rig is a server behind the boundary, over real HTTP.
type rig struct {
	*httptest.Server
	*tally
	newEra  bool
	session string
}

func newRig(t *testing.T, handler func(*Boundary, *mcp.Server) http.Handler, change func(*Options)) *rig {
	t.Helper()
	r := &rig{tally: new(tally)}
	o := Options{Ledger: r.tally, Meter: r.tally, Logger: quiet}
	if change != nil {
		change(&o)
	}
	server := demoServer()
	b := Install(server, o)
	r.Server = httptest.NewServer(b.HTTP(handler(b, server)))
	t.Cleanup(r.Close)
	return r
}

func streamable(o mcp.StreamableHTTPOptions) func(*Boundary, *mcp.Server) http.Handler {
	return func(_ *Boundary, s *mcp.Server) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &o)
	}
}

func bothEras(b *Boundary, s *mcp.Server) http.Handler { return b.eras(s) }

// reply is what came back.
type reply struct {
	status  int
	header  http.Header
	body    []byte
	message []byte // the body, or the data of the last event
}

func (r *rig) do(t *testing.T, method, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.session != "" {
		req.Header.Set("Mcp-Session-Id", r.session)
	}
	for i := 0; i < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			req.Host = header[i+1]
		case header[i+1] == "":
			req.Header.Del(header[i])
		default:
			req.Header.Set(header[i], header[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out := reply{status: res.StatusCode, header: res.Header}
	if out.body, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	out.message = out.body
	if mediaType(res.Header) == "text/event-stream" {
		out.message = nil
		events := wire.NewEventReader(bytes.NewReader(out.body), wire.Limits{})
		for e, err := events.Next(); err == nil; e, err = events.Next() {
			if len(e.Data) > 0 {
				out.message = bytes.Clone(e.Data)
			}
		}
	}
	return out
}

const clientMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// call makes a request in the era of the rig.
func (r *rig) call(t *testing.T, id, method, params string) reply {
	t.Helper()
	if !r.newEra {
		return r.do(t, http.MethodPost, request(id, method, params))
	}
	header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if v, err := wire.ParseValue([]byte(params), wire.Limits{}); err == nil && v.Type() == wire.TypeObject {
		for _, member := range []string{"name", "uri"} {
			if name, ok := v.Path(member).Str(); ok {
				header = append(header, "Mcp-Name", name)
			}
		}
		with, err := wire.SetMember(nil, []byte(params), []string{"_meta"}, []byte(clientMeta))
		if err != nil {
			t.Fatal(err)
		}
		params = string(with)
	}
	return r.do(t, http.MethodPost, request(id, method, params), header...)
}

func request(id, method, params string) string {
	body := `{"jsonrpc":"2.0",`
	if id != "" {
		body += `"id":` + id + `,`
	}
	body += `"method":` + string(wire.AppendString(nil, method))
	if params != "" {
		body += `,"params":` + params
	}
	return body + "}"
}

// initialize opens a session, if the handler has them.
func (r *rig) initialize(t *testing.T) {
	t.Helper()
	res := r.call(t, "1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if res.status != http.StatusOK {
		t.Fatalf("initialize: %d %s", res.status, res.body)
	}
	r.session = res.header.Get("Mcp-Session-Id")
	if res := r.call(t, "", "notifications/initialized", "{}"); res.status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", res.status, res.body)
	}
}

// failure reads the envelope that came back, nil if there is none.
func (res reply) failure(t *testing.T) *candor.Error {
	t.Helper()
	v, err := wire.ParseValue(res.message, wire.Limits{})
	if err != nil {
		t.Fatalf("not JSON: %v\n%s", err, res.body)
	}
	own, ok := dialect.Embedded(v)
	if !ok {
		return nil
	}
	e, err := dialect.ReadCandor(own)
	if err != nil {
		t.Fatalf("%v\n%s", err, res.body)
	}
	return e
}

func (res reply) number() int64 {
	v, _ := wire.ParseValue(res.message, wire.Limits{})
	n, _ := v.Path("error", "code").Int64()
	return n
}

func (res reply) id() string {
	v, _ := wire.ParseValue(res.message, wire.Limits{})
	return string(v.Path("id").Raw())
}
