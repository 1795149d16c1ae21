package httpgate_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// stream is an event stream that a test reads.
type stream struct {
	*framing.EventReader
	res *http.Response
}

func open(t *testing.T, method, address, body string, header ...string) stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), gatewaytest.TooLong)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return stream{framing.NewEventReader(res.Body, wire.Limits{}), res}
}

// next returns the next event with data.
func (s stream) next(t *testing.T) framing.Event {
	t.Helper()
	for {
		e, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Data) > 0 {
			return e
		}
	}
}

func TestLegacyServerWorksThroughTheGateway(t *testing.T) {
	server := httpgatetest.SDKServer(make(chan struct{}, 8))
	back := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(back.Close)
	t.Cleanup(back.CloseClientConnections)
	g := httpgatetest.GateTo(t, back, gateway.Options{}, httpgate.Options{})
	c := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.SSEClientTransport{Endpoint: g.URL}, &mcp.ClientSessionOptions{ProtocolVersion: "2024-11-05"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if tools, err := s.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 5 {
		t.Fatal(err)
	}
	got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{}})
	if err != nil || got.IsError {
		t.Errorf("%v %v", got, err)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "fail", Arguments: map[string]any{}}); err == nil {
		t.Error("a failure is a success")
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "progres", Arguments: map[string]any{}}); err == nil || !strings.Contains(err.Error(), "tool") {
		t.Errorf("an unknown tool: %v", err)
	}
	g.CheckTotals(t, 2)
}

// legacyServer announces a message address and passes each message to the test.
func legacyServer(endpoint string, messages chan<- string, say <-chan string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			messages <- r.URL.RequestURI() + " " + string(body)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", endpoint)
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case text, ok := <-say:
				if !ok {
					return
				}
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
}

func TestCallsOfALegacySessionEndOnItsStream(t *testing.T) {
	messages, say := make(chan string, 10), make(chan string)
	g := httpgatetest.NewGate(t, legacyServer("/messages?sessionId=a%20b", messages, say), gateway.Options{Timeouts: map[string]time.Duration{"slow": 300 * time.Millisecond}}, httpgate.Options{})
	s := open(t, http.MethodGet, g.URL, "")
	e := s.next(t)
	if string(e.Type) != "endpoint" || !strings.HasPrefix(string(e.Data), "?candor=") {
		t.Fatalf("%s", e.Raw)
	}
	address := g.URL + string(e.Data)
	post := func(body string) {
		t.Helper()
		if got := httpgatetest.Send(t, http.MethodPost, address, body); got.Status != http.StatusAccepted {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		if got := <-messages; got != "/messages?sessionId=a%20b "+body {
			t.Errorf("the server got %s", got)
		}
	}
	post(httpgatetest.ToolCall)
	say <- `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}`
	answer := s.next(t)
	if m := wire.Parse(answer.Data, wire.Limits{}); httpgatetest.CodeOf(m) == "" || string(m.ID()) != "7" {
		t.Errorf("%s", answer.Data)
	}
	post(gatewaytest.ToolCall(7, "slow", `{}`)) // it is not answered
	answer = s.next(t)
	if m := wire.Parse(answer.Data, wire.Limits{}); httpgatetest.CodeOf(m) != "CALL_TIMEOUT" || string(m.ID()) != "7" {
		t.Errorf("%s", answer.Data)
	}
	if got := <-messages; !strings.Contains(got, `"notifications/cancelled","params":{"requestId":7,`) {
		t.Errorf("the server got %s instead of being told", got)
	}
	post(`{"jsonrpc":"2.0","method":"notifications/x"}`)
	post(httpgatetest.ToolCall)
	close(say) // the server disconnects
	answer = s.next(t)
	if m := wire.Parse(answer.Data, wire.Limits{}); httpgatetest.CodeOf(m) != "UPSTREAM_GONE" {
		t.Errorf("%s", answer.Data)
	}
	g.CheckTotals(t, 3)
	if got := httpgatetest.Send(t, http.MethodPost, address, httpgatetest.ToolCall); got.Status != http.StatusNotFound {
		t.Errorf("after the end: %d", got.Status)
	}
}

func TestBrokenStreamIsResumed(t *testing.T) {
	var dropped atomic.Bool
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Mcp-Session-Id", "s1")
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPost {
			_, _ = io.WriteString(w, "id: e1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
			_ = http.NewResponseController(w).Flush()
			dropped.Store(true)
			panic(http.ErrAbortHandler)
		}
		if r.Header.Get("Last-Event-ID") != "e1" {
			t.Errorf("Last-Event-ID is %q", r.Header.Get("Last-Event-ID"))
		}
		_, _ = io.WriteString(w, "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":0,\"message\":\"disk on fire\"}}\n\n")
	}), gateway.Options{}, httpgate.Options{})
	first := g.Post(t, httpgatetest.ToolCall)
	if first.Err == nil || !dropped.Load() || len(g.Codes()) != 0 {
		t.Errorf("the end of the stream is hidden: %s %v", first.Body, g.Codes())
	}
	again := httpgatetest.Send(t, http.MethodGet, g.URL, "", "Mcp-Session-Id", "s1", "Last-Event-ID", "e1")
	if m := again.Terminal(t, "7"); httpgatetest.CodeOf(m) == "" || !strings.HasPrefix(string(again.Body), "id: e2\n") {
		t.Errorf("%s", again.Body)
	}
	g.CheckTotals(t, 1)
}

func TestCallIsLostIfItsStreamCannotBeResumed(t *testing.T) {
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		httpgatetest.Says(200, "text/event-stream", "id: e1\ndata:\n\n", "Mcp-Session-Id", "s1").ServeHTTP(w, r)
	}), gateway.Options{}, httpgate.Options{})
	if first := g.Post(t, httpgatetest.ToolCall); first.Err != nil || string(first.Body) != "id: e1\ndata:\n\n" || len(g.Codes()) != 0 {
		t.Errorf("the server may end a stream early: %s %v %v", first.Body, first.Err, g.Codes())
	}
	if again := httpgatetest.Send(t, http.MethodGet, g.URL, "", "Mcp-Session-Id", "s1", "Last-Event-ID", "e1"); again.Status != http.StatusServiceUnavailable {
		t.Errorf("%d", again.Status)
	}
	if codes := g.Codes(); len(codes) != 1 || codes[0] != "candor/UPSTREAM_GONE" {
		t.Errorf("%v", codes)
	}
	g.CheckTotals(t, 0)
}

// A call of a deleted session cannot be resumed, so it must not stay open or count as open.
func TestADeletedSessionTakesItsCallsAlong(t *testing.T) {
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", "s1")
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: e1\ndata: \n\n")
	}), gateway.Options{Timeout: -1}, httpgate.Options{})
	g.Post(t, httpgatetest.ToolCall, "Mcp-Session-Id", "s1")
	if open := g.Up.Open(); open != 1 {
		t.Fatalf("%d calls are open", open)
	}
	httpgatetest.Send(t, http.MethodDelete, g.URL, "", "Mcp-Session-Id", "s1")
	if open := g.Up.Open(); open != 0 {
		t.Errorf("%d calls are open still", open)
	}
}

// A parked call does not hold a connection that could end and so notify the server.
func TestTimedOutParkedCallIsCancelledUpstream(t *testing.T) {
	t.Parallel()
	called := make(chan string, 8)
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := wire.Parse(body, wire.Limits{})
		if m.MethodIs("notifications/cancelled") {
			called <- r.Header.Get("Mcp-Session-Id") + string(m.Params().Path("requestId").Raw())
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Mcp-Session-Id", "s1")
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: e1\ndata: \n\n")
	}), gateway.Options{Timeout: time.Second}, httpgate.Options{})
	g.Post(t, httpgatetest.ToolCall, "Mcp-Session-Id", "s1")
	if got := <-called; got != "s17" {
		t.Errorf("call %s was called off", got)
	}
	if codes := g.Codes(); len(codes) != 1 || codes[0] != "candor/CALL_TIMEOUT" {
		t.Errorf("%v", codes)
	}
}

const readOnlyTools = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
	`{"name":"write","inputSchema":{"type":"object"}}]}}`

func TestARetryOverHTTPIsMadeBeforeTheClientSeesAnything(t *testing.T) {
	t.Parallel()
	busy := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"code\":\"RATE_LIMITED\",\"message\":\"later\"}"}],"isError":true}}`
	for name, fail := range map[string]http.Handler{
		"rejected":     httpgatetest.Says(503, "text/plain", "busy"),
		"in one piece": httpgatetest.Says(200, "application/json", busy),
		"as an event":  httpgatetest.Says(200, "text/event-stream", "data: "+busy+"\n\n"),
	} {
		var tries atomic.Int64
		g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			switch {
			case strings.Contains(string(body), "tools/list"):
				httpgatetest.Says(200, "application/json", readOnlyTools).ServeHTTP(w, r)
			case tries.Add(1) < 2:
				fail.ServeHTTP(w, r)
			default:
				httpgatetest.Says(200, "application/json", good).ServeHTTP(w, r)
			}
		}), gateway.Options{Retry: gateway.RetryPolicy{Attempts: 3}}, httpgate.Options{})
		g.Post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		got := g.Post(t, httpgatetest.ToolCall)
		if string(got.Body) != good || tries.Load() != 2 {
			t.Errorf("%s: %d tries, %s", name, tries.Load(), got.Body)
		}
		tries.Store(0)
		got = g.Post(t, strings.Replace(httpgatetest.ToolCall, `"read"`, `"write"`, 1))
		if tries.Load() != 1 || httpgatetest.CodeOf(got.Terminal(t, "7")) == "" {
			t.Errorf("%s: a tool that writes was called %d times", name, tries.Load())
		}
	}
}
