package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
)

// effectCase is a tool that fails before or after it may have changed data.
type effectCase struct {
	name   string
	handle mcp.ToolHandler
	open   bool  // it is unknown whether the call took effect
	after  int64 // the retry delay that must be kept, if any
}

// postTo returns a tool that posts to a URL, like tools in front of a web API.
func postTo(url string) mcp.ToolHandler {
	return func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("text=hello"))
		if err != nil {
			return nil, err
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return nil, err
		}
		defer func() { _ = res.Body.Close() }()
		body, _ := io.ReadAll(res.Body)
		if wait := res.Header.Get("Retry-After"); wait != "" {
			return nil, fmt.Errorf("request failed with status code %d %s: %s, retry after %s seconds", res.StatusCode, http.StatusText(res.StatusCode), body, wait)
		}
		return nil, fmt.Errorf("request failed with status code %d %s: %s", res.StatusCode, http.StatusText(res.StatusCode), body)
	}
}

// recordingUpstream starts an upstream server that fails in a different way on each path.
func recordingUpstream(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/hangup":
			panic(http.ErrAbortHandler) // net/http ends the connection for this value
		case "/slow":
			<-r.Context().Done()
		case "/429":
			w.Header().Set("Retry-After", "7")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		case "/503":
			w.Header().Set("Retry-After", "7")
			http.Error(w, "later", http.StatusServiceUnavailable)
		default:
			http.Error(w, "oops", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// closedAddress returns an address that refuses connections.
func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String()
}

func effectCases(t *testing.T) []effectCase {
	t.Helper()
	upstream := recordingUpstream(t)
	fails := func(err error) mcp.ToolHandler {
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, err }
	}
	holds := func(options ...candor.Option) mcp.ToolHandler {
		raw := candorDialect.Encode(nil, candor.RetryableAfter(candor.CodeUpstreamError, 4*time.Second, "The channel broke.", options...), dialect.Options{})
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{}, Meta: mcp.Meta{dialect.MetaKey: json.RawMessage(raw)}}, nil
		}
	}
	return []effectCase{
		{"envelope passed on", holds(candor.WithRef("r-9"), candor.WithTime(time.Now())), true, 4000},
		{"envelope", holds(), false, 0},
		{"500", postTo(upstream + "/500"), true, 1000},
		{"503", postTo(upstream + "/503"), true, 7000},
		{"hangup", postTo(upstream + "/hangup"), true, 0},
		{"deadline", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			return postTo(upstream+"/slow")(ctx, req)
		}, true, 1000},
		{"catalogue", fails(candor.New(candor.CodeUpstreamError, "The channel broke.")), true, 1000},
		{"words", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r := text("Error: socket hang up (ECONNRESET)")
			r.IsError = true
			return r, nil
		}, true, 1000},
		{"passed on", fails(candor.New(candor.CodeUpstreamError, "", candor.WithRetry(candor.RetryIn(3*time.Second)),
			candor.WithRef("r-1"), candor.WithTime(time.Now()))), true, 3000},
		{"429", postTo(upstream + "/429"), false, 0},
		{"refused", postTo(closedAddress(t)), false, 0},
		{"no name", fails(&net.DNSError{Err: "no such host", Name: "api.invalid", IsNotFound: true}), false, 0},
		{"busy", fails(candor.New(dual.DBBusy, "")), false, 0},
		{"author", fails(candor.RetryableAfter(candor.CodeUpstreamError, 2*time.Second, "Nothing was sent.")), false, 0},
		{"author wrapped", fails(fmt.Errorf("posting: %w", candor.RetryableImmediately(candor.CodeUnavailable, ""))), false, 0},
	}
}

// TestRetryAdviceInvitesNoSecondEffect calls failing tools in front of a web API over real HTTP, in both eras, with and without
// annotations.
func TestRetryAdviceInvitesNoSecondEffect(t *testing.T) {
	t.Parallel()
	cases := effectCases(t)
	for _, annotations := range []*mcp.ToolAnnotations{nil, {Title: "Post"}, {ReadOnlyHint: true}, {IdempotentHint: true}} {
		add := func(_ *Boundary, s *mcp.Server) http.Handler {
			for _, c := range cases {
				s.AddTool(&mcp.Tool{Name: c.name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: annotations}, c.handle)
			}
			return streamable(mcp.StreamableHTTPOptions{})(nil, s)
		}
		r := newRig(t, add, nil)
		r.initialize(t)
		repeatable := annotations != nil && (annotations.ReadOnlyHint || annotations.IdempotentHint)
		for _, c := range cases {
			checkAdvice(t, r, c, repeatable)
		}
	}
}

func checkAdvice(t *testing.T, r *rig, c effectCase, repeatable bool) {
	t.Helper()
	res := r.call(t, "2", "tools/call", `{"name":"`+c.name+`","arguments":{}}`)
	e := res.failure(t)
	if e == nil {
		t.Fatalf("%s: no envelope: %s", c.name, res.body)
	}
	if recorded := r.last(); recorded.Retry() != e.Retry() {
		t.Errorf("%s: recorded %s, sent %s", c.name, recorded.Retry(), e.Retry())
	}
	if !c.open || repeatable {
		if !e.Retry().Retryable() {
			t.Errorf("%s (repeatable %v): %s %s, want retryable", c.name, repeatable, e, e.Retry())
		}
		return
	}
	if e.Retry().Retryable() || !strings.HasPrefix(e.Suggestion(), contract.CheckEffect) || strings.Contains(string(res.message), "again") {
		t.Errorf("%s: %s, %q\n%s", c.name, e.Retry(), e.Suggestion(), res.message)
	}
	if ms := e.Details().Get("said").Get("retryAfterMs").String(); c.after > 0 && ms != fmt.Sprint(c.after) {
		t.Errorf("%s: details %s, want said.retryAfterMs %d", c.name, e.Details(), c.after)
	}
}

// TestAuthorOfTheServerHasTheLastWord checks that Refine can make a failure retryable.
func TestAuthorOfTheServerHasTheLastWord(t *testing.T) {
	t.Parallel()
	add := func(_ *Boundary, s *mcp.Server) http.Handler {
		s.AddTool(&mcp.Tool{Name: "500", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("request failed with status code 500 Internal Server Error")
		})
		return streamable(mcp.StreamableHTTPOptions{})(nil, s)
	}
	r := newRig(t, add, func(o *Options) {
		o.Refine = func(_ context.Context, e *candor.Error) *candor.Error {
			if e.Code() == candor.CodeUpstreamError {
				return e.With(candor.WithRetry(candor.RetryIn(9 * time.Second)))
			}
			return e
		}
	})
	r.initialize(t)
	if e := r.call(t, "2", "tools/call", `{"name":"500","arguments":{}}`).failure(t); e.Retry() != candor.RetryIn(9*time.Second) {
		t.Errorf("%s %s", e, e.Retry())
	}
}
