package boundary

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/wire"
)

// connect opens a session with the go-sdk's client.
func connect(t *testing.T, url, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

type probeParams struct{ mcp.ParamsBase }
type probeResult struct{ mcp.ResultBase }

// probe sends a method that the server does not know.
func probe(t *testing.T, url string) (probed, after error) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
	if err := mcp.AddSendingCustomMethod[*probeParams, *probeResult](client, "sys/errorStats"); err != nil {
		t.Fatal(err)
	}
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	_, probed = mcp.CallCustomMethod[*probeParams, *probeResult](t.Context(), session, "sys/errorStats", &probeParams{})
	_, after = session.ListTools(t.Context(), nil)
	return probed, after
}

func TestUnknownMethodDoesNotEndTheSession(t *testing.T) {
	bare := httptest.NewServer(streamable(mcp.StreamableHTTPOptions{})(nil, demoServer()))
	defer bare.Close()
	if probed, after := probe(t, bare.URL); probed == nil || after == nil {
		t.Errorf("the stock handler lets the session live now (%v, %v): this layer has one reason less", probed, after)
	}
	r := newRig(t, streamable(mcp.StreamableHTTPOptions{}), nil)
	probed, after := probe(t, r.URL)
	if e := received(nil, probed); e == nil || e.Code().Symbol() != "METHOD_NOT_FOUND" || e.Ref() != r.last().Ref() {
		t.Errorf("%v", probed)
	}
	if after != nil {
		t.Errorf("the session is gone: %v", after)
	}
}

func TestUnknownSessionIsReported(t *testing.T) {
	r := newRig(t, streamable(mcp.StreamableHTTPOptions{}), nil)
	session := connect(t, r.URL, "2025-11-25", nil)
	if res := r.do(t, "DELETE", "", "Mcp-Session-Id", session.ID()); res.status != 204 {
		t.Fatalf("%d %s", res.status, res.body)
	}
	if _, err := session.ListTools(t.Context(), nil); !errors.Is(err, mcp.ErrSessionMissing) {
		t.Errorf("%v", err)
	}
	if e := r.last(); e == nil || e.Code().Symbol() != "E_SESSION_NOT_FOUND" {
		t.Errorf("%v", e)
	}
}

// TestClientOfTheSDKWorksThroughTheLayer calls a tool that reports progress and sends a request to the client before it answers.
func TestClientOfTheSDKWorksThroughTheLayer(t *testing.T) {
	server := demoServer()
	mcp.AddTool(server, &mcp.Tool{Name: "asks"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 1}); err != nil {
			return nil, nil, err
		}
		elicited, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?"})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: elicited.Action}}}, nil, nil
	})
	count := new(tally)
	srv := httptest.NewServer(Handler(server, Options{Ledger: count, Meter: count, Logger: quiet}))
	t.Cleanup(srv.Close) // after the sessions
	progress := make(chan float64, 1)
	session := connect(t, srv.URL, "2025-11-25", &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	params := &mcp.CallToolParams{Name: "asks"}
	params.SetProgressToken("p")
	result, err := session.CallTool(t.Context(), params)
	if err != nil || result.IsError || !strings.Contains(fmt.Sprint(result.Content[0]), "decline") {
		t.Fatalf("%v %v", result, err)
	}
	if <-progress != 1 {
		t.Error("progress got lost")
	}
	for _, version := range []string{"", "2025-11-25", "2025-06-18"} {
		s := connect(t, srv.URL, version, nil)
		if tools, err := s.ListTools(t.Context(), nil); err != nil || len(tools.Tools) == 0 {
			t.Errorf("%q: %v", version, err)
		}
		result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "plain"})
		if e := received(result, err); e == nil || e.Code().Symbol() != "INTERNAL_ERROR" || e.Ref() != count.last().Ref() {
			t.Errorf("%q: %v %v", version, result, err)
		}
		result, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ecco"})
		if e := received(result, err); e == nil || e.Code().Symbol() != "TOOL_NOT_FOUND" {
			t.Errorf("%q: %v %v", version, result, err)
		}
	}
	if entries, counts, _ := count.totals(); entries != 6 || counts != 6 {
		t.Errorf("%d entries, %d counts", entries, counts)
	}
}

func TestCallOverHTTPIsCancelled(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		server, began, ended := demoServer(), make(chan bool), make(chan error, 1)
		mcp.AddTool(server, &mcp.Tool{Name: "waits"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			began <- true
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, nil, ctx.Err()
		})
		srv := httptest.NewServer(Handler(server, Options{Logger: quiet}))
		t.Cleanup(srv.Close)
		session := connect(t, srv.URL, version, nil)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "waits"})
			failed <- err
		}()
		<-began
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", version, err)
		}
		<-ended
		if _, err := session.ListTools(t.Context(), nil); err != nil {
			t.Errorf("%s: the session is gone: %v", version, err)
		}
	}
}

func TestCallWithLargeIDIsCancelled(t *testing.T) {
	began, ended := make(chan bool), make(chan bool)
	server := demoServer()
	mcp.AddTool(server, &mcp.Tool{Name: "waits"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, nil, ctx.Err()
	})
	r := &rig{tally: new(tally), Server: httptest.NewServer(Handler(server, Options{Logger: quiet}))}
	defer r.Close()
	r.initialize(t)
	done := make(chan httpReply)
	go func() { done <- r.call(t, "9007199254740993", "tools/call", `{"name":"waits"}`) }()
	<-began
	if res := r.call(t, "", "notifications/cancelled", `{"requestId":9007199254740993}`); res.status != http.StatusAccepted {
		t.Fatalf("%d %s", res.status, res.body)
	}
	<-ended
	if res := <-done; res.id() != "9007199254740993" || res.failure(t).Code().Symbol() != "CANCELLED" {
		t.Errorf("%s", res.body)
	}
}

// TestReplayedEventIsRecordedOnce reads a stream of events twice, like a client that has lost its connection.
func TestReplayedEventIsRecordedOnce(t *testing.T) {
	r := newRig(t, streamable(mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}), nil)
	r.initialize(t)
	for _, call := range [][3]string{
		{"1", "prompts/list", `{"cursor":5}`}, {"9007199254740993", "tools/call", `{"name":"plain"}`}, {"3", "tools/call", `{"name":"rpc"}`},
		{"4", "resources/read", `{"uri":"file:///missing"}`}, {"1.5", "tools/list", `{}`},
		{"6", "completion/complete", `{"ref":{"type":"ref/prompt","name":"broken"},"argument":{"name":"a","value":"b"}}`},
	} {
		res := r.do(t, "POST", request(call[0], call[1], call[2]), "Mcp-Protocol-Version", "2025-11-25")
		first, _, _ := strings.Cut(string(res.body), "\n\n") // the initial event without data
		_, from, ok := strings.Cut(first, "id: ")
		if !ok {
			t.Fatalf("no event id: %s", res.body)
		}
		from, _, _ = strings.Cut(from, "\n")
		before, _, _ := r.totals()
		for range 2 {
			again := r.do(t, "GET", "", "Last-Event-ID", from, "Mcp-Protocol-Version", "2025-11-25", "Accept", "text/event-stream")
			if string(again.message) != string(res.message) || again.id() != call[0] {
				t.Errorf("%s: first %s\nthen %s", call[1], res.body, again.body)
			}
		}
		if entries, counts, _ := r.totals(); entries != before || counts != entries {
			t.Errorf("%s: settled again", call[1])
		}
	}
}

// TestErrorReachesReconnectedClient calls a tool that closes the stream of its call before it fails.
func TestErrorReachesReconnectedClient(t *testing.T) {
	server, count := demoServer(), new(tally)
	for name, failure := range map[string]error{"tool": errors.New("disk on fire"), "rpc": &jsonrpc.Error{Code: 2100, Message: "Navigation failed"}} {
		mcp.AddTool(server, &mcp.Tool{Name: "drops " + name}, func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: time.Millisecond})
			return nil, nil, failure
		})
	}
	b := Install(server, Options{Ledger: count, Meter: count, Logger: quiet})
	srv := httptest.NewServer(b.HTTP(streamable(mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})(b, server)))
	t.Cleanup(srv.Close)
	session := connect(t, srv.URL, "2025-11-25", nil)
	for name, code := range map[string]string{"tool": "INTERNAL_ERROR", "rpc": "E_PW_NAV"} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "drops " + name})
		if e := received(result, err); e == nil || e.Code().Symbol() != code || e.Ref() != count.last().Ref() {
			t.Errorf("%s: %v %v", name, result, err)
		}
	}
	if entries, counts, _ := count.totals(); entries != 2 || counts != 2 {
		t.Errorf("%d entries, %d counts", entries, counts)
	}
}

// TestMixedCallsReconcile checks the invariant under load: errors sent = entries = counts.
func TestMixedCallsReconcile(t *testing.T) {
	r := newRig(t, bothEras, nil)
	r.initialize(t)
	fresh := &rig{Server: r.Server, tally: r.tally, newEra: true}
	calls := [][2]string{
		{"tools/call", `{"name":"echo","arguments":{"text":"x"}}`}, {"tools/call", `{"name":"plain"}`}, {"tools/call", `{"name":"panics"}`},
		{"foo/bar", `{}`}, {"tools/call", `{"name":"echo","arguments":{}}`}, {"tools/call", `{"name":"ecco"}`}, {"prompts/list", `{"cursor":5}`},
		{"tools/list", `{}`}, {"tools/call", ""}, {"resources/read", `{"uri":"file:///missing"}`},
	}
	var written atomic.Int64
	var all sync.WaitGroup
	slots := make(chan bool, 32)
	for i := range 1000 {
		slots <- true
		all.Go(func() {
			defer func() { <-slots }()
			rig, call, id := r, calls[i%len(calls)], fmt.Sprintf("%d", i+10)
			if i%2 == 1 {
				rig = fresh
			}
			res := rig.call(t, id, call[0], call[1])
			m := wire.Parse(res.message, wire.Limits{})
			if res.id() != id {
				t.Errorf("%s: %s", id, res.body)
			}
			if failed, _ := m.Result().Path("isError").Bool(); failed || m.Kind() == wire.KindError {
				written.Add(1)
			}
		})
	}
	all.Wait()
	if entries, counts, suppressed := r.totals(); int64(entries) != written.Load() || counts != entries || suppressed != 0 || entries != 800 {
		t.Errorf("%d written, %d entries, %d counts, %d suppressed", written.Load(), entries, counts, suppressed)
	}
}

func TestLegacyHandlerWorksThroughTheLayer(t *testing.T) {
	r := newRig(t, func(_ *Boundary, s *mcp.Server) http.Handler {
		return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
	}, nil)
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.SSEClientTransport{Endpoint: r.URL}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	before, _, _ := r.totals() // the client tries a newer version first
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "plain"})
	if e := received(result, err); e == nil || e.Code().Symbol() != "INTERNAL_ERROR" {
		t.Errorf("%v %v", result, err)
	}
	_, err = session.ListPrompts(t.Context(), &mcp.ListPromptsParams{Cursor: "%%%"})
	if e := received(nil, err); e == nil || e.Code().Symbol() != "INVALID_CURSOR" {
		t.Errorf("%v", err)
	}
	if entries, counts, _ := r.totals(); entries != before+2 || counts != entries {
		t.Errorf("%d entries, %d counts", entries-before, counts)
	}
}
