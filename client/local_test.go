package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/codes/common"
)

// blocking is the handler of a tool that waits until its context is done.
func blocking(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func checkLocal(t *testing.T, e *candor.Error, code candor.Code, by candor.Party) {
	t.Helper()
	if e.Code() != code || e.Origin().By != by {
		t.Errorf("decoded as %v of %q, want %v of %q (cause %+v)", e, e.Origin().By, code, by, e.Cause())
	}
}

func TestTimeoutOfClientIsItsOwn(t *testing.T) {
	for path, connect := range clientPaths {
		t.Run(path, func(t *testing.T) {
			session := connect(t, toolServer("wait", nil, blocking))
			late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			e := client.Decode(session.CallTool(late, &mcp.CallToolParams{Name: "wait"}))
			checkLocal(t, e, candor.CodeTimeout, candor.PartyClient)
			if !errors.Is(e, context.DeadlineExceeded) {
				t.Error("the deadline cannot be recognised")
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			e = client.Decode(session.CallTool(gone, &mcp.CallToolParams{Name: "wait"}))
			checkLocal(t, e, candor.CodeCancelled, candor.PartyClient)
			if !errors.Is(e, context.Canceled) {
				t.Error("the cancellation cannot be recognised")
			}
		})
	}
}

func TestServerThatEndsIsUpstreamGone(t *testing.T) {
	near, far := net.Pipe()
	started := make(chan struct{})
	server := toolServer("wait", nil, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(started)
		return blocking(ctx, r)
	})
	if _, err := server.Connect(t.Context(), &mcp.IOTransport{Reader: far, Writer: far}, nil); err != nil {
		t.Fatal(err)
	}
	session := clientOf(t, &mcp.IOTransport{Reader: near, Writer: near})
	go func() { <-started; _ = far.Close() }()
	open := client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait"}))
	checkLocal(t, open, candor.CodeUpstreamGone, candor.PartyTransport)
	if !errors.Is(open, io.EOF) {
		t.Errorf("the end of the stream cannot be recognised in %+v", open)
	}
	after := client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait"}))
	checkLocal(t, after, candor.CodeUpstreamGone, candor.PartyTransport)
	if !errors.Is(after, mcp.ErrConnectionClosed) {
		t.Error("the closed connection cannot be recognised")
	}
}

// statusServer returns a client of a server that answers every tools/call with an HTTP status and plain text.
func statusServer(t *testing.T, status int) *mcp.ClientSession {
	t.Helper()
	server := toolServer("any", nil, blocking)
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	return clientOf(t, &mcp.StreamableClientTransport{MaxRetries: -1, Endpoint: serveHTTP(t,
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isToolCall(r) {
				http.Error(w, "sorry", status)
				return
			}
			inner.ServeHTTP(w, r)
		}))})
}

func TestAnHTTPStatusIsOfTheTransport(t *testing.T) {
	for status, want := range map[int]candor.Code{
		400: candor.CodeInvalidRequest, 401: candor.CodeUnauthenticated, 403: candor.CodePermissionDenied,
		413: candor.CodeMessageTooLarge, 429: candor.CodeRateLimited, 500: candor.CodeInternalError,
		502: candor.CodeUnavailable, 503: candor.CodeUnavailable, 504: candor.CodeTimeout,
		404: common.SessionNotFound, // the SDK reports a missing session
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			e := client.Decode(statusServer(t, status).CallTool(t.Context(), &mcp.CallToolParams{Name: "any"}))
			checkLocal(t, e, want, candor.PartyTransport)
			if status == 404 && !errors.Is(e, mcp.ErrSessionMissing) {
				t.Error("the missing session cannot be recognised")
			}
		})
	}
}

func TestAnUnreachableServerIsOfTheTransport(t *testing.T) {
	server := toolServer("any", nil, blocking)
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	var cut bool
	cutting := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if cut {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	session := clientOf(t, &mcp.StreamableClientTransport{Endpoint: serveHTTP(t, inner), HTTPClient: cutting})
	cut = true
	e := client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "any"}))
	checkLocal(t, e, candor.CodeUpstreamUnreachable, candor.PartyTransport)
}

func TestParametersThatCannotBeWrittenAreTheClientsFault(t *testing.T) {
	session := clientPaths["pipe"](t, toolServer("any", nil, blocking))
	e := client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "any", Arguments: math.NaN()}))
	checkLocal(t, e, candor.CodeInvalidRequestParams, candor.PartyClient)
}

func TestAnAnswerThatCannotBeReadIsMalformed(t *testing.T) {
	server := toolServer("any", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&hologram{}}}, nil
	})
	e := client.Decode(clientPaths["pipe"](t, server).CallTool(t.Context(), &mcp.CallToolParams{Name: "any"}))
	checkLocal(t, e, candor.CodeUpstreamMalformed, candor.PartyTransport)
}

func TestNoResultAtAllIsAnEmptyResult(t *testing.T) {
	checkLocal(t, client.Decode(nil, nil), candor.CodeEmptyResult, candor.PartyServer)
}

func TestAnUnknownGoErrorIsTheClientsOwn(t *testing.T) {
	odd := errors.New("a middleware of the client broke")
	e := client.DecodeError(odd)
	checkLocal(t, e, candor.CodeInternalError, candor.PartyClient)
	if !errors.Is(e, odd) {
		t.Error("the Go error cannot be recognised")
	}
	mine := candor.New(candor.CodeConflict, "")
	if got := client.DecodeError(mine); got != mine {
		t.Errorf("an error of ours became %v", got)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// hologram is a content block of a type that the client does not know.
type hologram struct{ mcp.TextContent }

func (*hologram) MarshalJSON() ([]byte, error) { return []byte(`{"type":"hologram"}`), nil }

// isToolCall reports whether the body of a request is a tools/call, and restores the body.
func isToolCall(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte(`"tools/call"`))
}

// TestTooManyRequestsIsRepeatedOnlyInItsSession answers the request with HTTP 429, or begins an answer that cannot be
// resumed because of that status. The SDK reports both alike, so the advice is not to call again, and a Caller repeats
// what cannot have a second effect.
func TestTooManyRequestsIsRepeatedOnlyInItsSession(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]bool{"the request is refused": false, "the stream is not resumed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var effects, asked atomic.Int64
			server := toolServer("pay", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				effects.Add(1)
				return &mcp.CallToolResult{}, nil
			})
			inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
			session := clientOf(t, &mcp.StreamableClientTransport{Endpoint: serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Header.Get("Last-Event-ID") != "", isToolCall(r) && !begins && asked.Add(1) == 1:
					http.Error(w, "sorry", http.StatusTooManyRequests)
				case isToolCall(r) && begins:
					effects.Add(1)
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "id: 7\nretry: 1\ndata: \n\n") // the client may be gone
				default:
					inner.ServeHTTP(w, r)
				}
			}))})
			pay := &mcp.CallToolParams{Name: "pay"}
			_, e := (&client.Caller{Session: session, MaxJitter: 1}).CallTool(t.Context(), pay)
			if effects.Load() != 1 || (e != nil) != begins || e != nil && e.Retry().Retryable() {
				t.Errorf("%d effects: %v", effects.Load(), e)
			}
		})
	}
	e := client.Decode(statusServer(t, http.StatusTooManyRequests).CallTool(t.Context(), &mcp.CallToolParams{Name: "any"}))
	if e.Retry().Retryable() || e.Details().Get("said").Get("retryAfterMs").String() != "1000" {
		t.Errorf("%v %s %s", e, e.Retry(), e.Details())
	}
}
