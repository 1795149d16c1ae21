package boundary

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
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
