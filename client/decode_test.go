package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/codes/playwright"
	"github.com/candor-mcp/candor/dialect"
)

// clientPaths lists the transports between a client and a server of the go-sdk.
var clientPaths = map[string]func(testing.TB, *mcp.Server) *mcp.ClientSession{
	"pipe": func(t testing.TB, s *mcp.Server) *mcp.ClientSession {
		near, far := mcp.NewInMemoryTransports()
		if _, err := s.Connect(t.Context(), far, nil); err != nil {
			t.Fatal(err)
		}
		return clientOf(t, near)
	},
	"http": func(t testing.TB, s *mcp.Server) *mcp.ClientSession {
		return clientOf(t, &mcp.StreamableClientTransport{Endpoint: serveHTTP(t, mcp.NewStreamableHTTPHandler(
			func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))})
	},
}

func clientOf(t testing.TB, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func serveHTTP(t testing.TB, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// toolServer returns a server with one tool, which accepts any arguments.
func toolServer(name string, annotations *mcp.ToolAnnotations, handle mcp.ToolHandler) *mcp.Server {
	quiet := &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)}
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, quiet)
	s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: annotations}, handle)
	return s
}

// variants returns errors with the code c and each kind of retry advice that it may have, by its catalogue row or by an author.
func variants(c candor.Code) []*candor.Error {
	ref := candor.WithRef("ref-" + c.Symbol())
	return []*candor.Error{
		candor.New(c, "", ref),
		candor.RetryableAfter(c, 1500e6, "The author's own words about "+c.Symbol()+".", ref),
	}
}

// boundaryPaths lists the boundary's implementations of both transports.
var boundaryPaths = map[string]func(testing.TB, *mcp.Server, boundary.Options) *mcp.ClientSession{
	"stdio": func(t testing.TB, s *mcp.Server, o boundary.Options) *mcp.ClientSession {
		near, far := net.Pipe()
		if _, err := s.Connect(t.Context(), boundary.Install(s, o).Transport(far, far), nil); err != nil {
			t.Fatal(err)
		}
		return clientOf(t, &mcp.IOTransport{Reader: near, Writer: near})
	},
	"http": func(t testing.TB, s *mcp.Server, o boundary.Options) *mcp.ClientSession {
		return clientOf(t, &mcp.StreamableClientTransport{Endpoint: serveHTTP(t, boundary.Handler(s, o))})
	},
}

func TestEveryCodeInEveryDialectReachesTheClientUnchanged(t *testing.T) {
	for path, connect := range boundaryPaths {
		for _, name := range dialect.Names() {
			t.Run(path+"/"+name, func(t *testing.T) {
				t.Parallel()
				var sent atomic.Pointer[candor.Error]
				server := toolServer("fail", idempotent, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return nil, fmt.Errorf("on the way out: %w", sent.Load())
				})
				d, err := dialect.Lookup(name)
				if err != nil {
					t.Fatal(err)
				}
				session := connect(t, server, boundary.Options{Dialect: d})
				for code := range candor.Codes() {
					for i, e := range variants(code) {
						if path == "http" && i != code.Number()%2 {
							continue // test half of them, because a call over HTTP is slow
						}
						sent.Store(e)
						got := client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "fail"}))
						checkSame(t, e, got, d)
					}
				}
			})
		}
	}
}

func checkSame(t *testing.T, sent, got *candor.Error, d dialect.Dialect) {
	t.Helper()
	if d.Name() == "rpc" && sent.Code() == candor.CodeMethodNotFound && got.Code() == candor.CodeMethodNotFound {
		return // the SDK replaces the message of every error with number -32601
	}
	if got.Code() != sent.Code() || got.Retry() != sent.Retry() || got.Message() != sent.Message() || got.Ref() != sent.Ref() {
		t.Errorf("sent %v (%v, %q), received %v (%v, %q)", sent, sent.Retry(), sent.Ref(), got, got.Retry(), got.Ref())
	}
	if got.Origin() != sent.Origin() || got.CallInfo().Tool != "fail" {
		t.Errorf("%v: origin %+v, tool %q", got, got.Origin(), got.CallInfo().Tool)
	}
}

func TestSuccessDecodesToNil(t *testing.T) {
	ok := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Error: only a file that says so"}}}
	if e := client.Decode(ok, nil); e != nil {
		t.Errorf("a success is read as %v", e)
	}
	if e := client.DecodeError(nil); e != nil {
		t.Errorf("nil is read as %v", e)
	}
}

func TestMaskedFailureIsSuspected(t *testing.T) {
	masked := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: `{"success":false,"error":"rate limit exceeded"}`}}}
	if e := client.Decode(masked, nil); e != nil {
		t.Errorf("a guess decided: %v", e)
	}
	e, confidence := client.DecodeSuspected(masked, nil)
	if e == nil || confidence <= 0 || confidence >= 1 {
		t.Fatalf("suspected %v with confidence %v", e, confidence)
	}
	if !e.Origin().Inferred {
		t.Error("what was guessed is said to have been said")
	}
	masked.Meta = mcp.Meta{dialect.MetaKey: "anybody may write under our name"}
	if e := client.Decode(masked, nil); e != nil {
		t.Errorf("a guess decided: %v", e)
	}
	if e, confidence := client.DecodeSuspected(&mcp.CallToolResult{Content: []mcp.Content{}}, nil); e != nil || confidence != 0 {
		t.Errorf("a clean result is suspected: %v, %v", e, confidence)
	}
	if _, confidence := client.DecodeSuspected(nil, io.EOF); confidence != 1 {
		t.Errorf("a lost call has confidence %v", confidence)
	}
}

func TestWordsOfAnyServerAreInferred(t *testing.T) {
	server := toolServer("fail", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "429 Too Many Requests"}}}, nil
	})
	e := client.Decode(clientPaths["pipe"](t, server).CallTool(t.Context(), &mcp.CallToolParams{Name: "fail"}))
	if e.Class() != candor.ClassRateLimited || !e.Origin().Inferred || e.Origin().By != candor.PartyTool {
		t.Errorf("read as %v, %+v", e, e.Origin())
	}
}

func TestAProtocolErrorKeepsItsData(t *testing.T) {
	said := &jsonrpc.Error{Code: 2100, Message: "Navigation failed",
		Data: json.RawMessage(`{"domain":"playwright","symbol":"E_PW_NAV","retryable":true,"retryAfterMs":700,"details":{"url":"x"}}`)}
	for path, connect := range clientPaths {
		t.Run(path, func(t *testing.T) {
			server := toolServer("fail", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, said })
			e := client.Decode(connect(t, server).CallTool(t.Context(), &mcp.CallToolParams{Name: "fail"}))
			if e.Code() != playwright.Nav || e.Retry().Retryable() || e.Details().Get("said").Get("retryAfterMs").String() != "700" || e.Details().Get("url").String() != `"x"` {
				t.Errorf("read as %v, %v, %v", e, e.Retry(), e.Details())
			}
			var inner *jsonrpc.Error
			if !errors.As(e, &inner) || inner.Code != 2100 {
				t.Error("the SDK's error cannot be reached")
			}
			var own *candor.Error
			if !errors.As(fmt.Errorf("wrapped: %w", e), &own) || own != e {
				t.Error("the error cannot be found in a chain")
			}
		})
	}
}

func TestOtherMethodsAreDecodedToo(t *testing.T) {
	for path, connect := range clientPaths {
		t.Run(path, func(t *testing.T) {
			server := toolServer("some", nil, nil)
			boundary.Install(server, boundary.Options{})
			server.AddResource(&mcp.Resource{URI: "file:///a", Name: "a"}, nil)
			session := connect(t, server)
			_, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "file:///missing"})
			if e := client.DecodeError(err); e.Code() != candor.CodeResourceNotFound || e.Origin().By != candor.PartyServer {
				t.Errorf("resources/read: %v, %+v", e, e.Origin())
			}
			_, err = session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "nonsense"})
			if e := client.DecodeError(err); e.Code() != candor.CodeInvalidCursor {
				t.Errorf("tools/list: %v", e)
			}
			e := client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "sume"}))
			if e.Code() != candor.CodeToolNotFound || e.Ref() == "" {
				t.Errorf("tools/call: %v", e)
			}
		})
	}
}
