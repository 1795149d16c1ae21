package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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

func effectCases() []effectCase {
	fails := func(err error) mcp.ToolHandler {
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, err }
	}
	holds := func(options ...candor.Option) mcp.ToolHandler {
		raw := candorDialect.Encode(nil, candor.RetryableAfter(candor.CodeUpstreamError, 4*time.Second, "The channel broke.", options...), dialect.Options{})
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{}, Meta: mcp.Meta{dialect.MetaKey: json.RawMessage(raw)}}, nil
		}
	}
	refused := candor.RetryableAfter(candor.CodeTooManyCalls, 6*time.Second, "", candor.WithOrigin(candor.PartyGateway, false), candor.WithRef("r-8"),
		candor.WithTime(time.Now()), candor.WithDetails(map[string]any{"effect": "none"}))
	return []effectCase{
		{"JSON-RPC error passed on", fails(&jsonrpc.Error{Code: -32603, Message: "paid, then refused",
			Data: json.RawMessage(`{"dev.candor/error":` + string(candorDialect.Encode(nil, refused, dialect.Options{})) + `}`)}), true, 6000},
		{"envelope passed on", holds(candor.WithRef("r-9"), candor.WithTime(time.Now())), true, 4000},
		{"envelope", holds(), false, 0},
		{"500", fails(errors.New("request failed with status code 500 Internal Server Error: oops")), true, 1000},
		{"503", fails(errors.New("request failed with status code 503 Service Unavailable: later, retry after 7 seconds")), true, 7000},
		{"hangup", fails(&url.Error{Op: "Post", URL: "http://127.0.0.1:1/", Err: io.EOF}), true, 0},
		{"deadline", fails(&url.Error{Op: "Post", URL: "http://127.0.0.1:1/", Err: context.DeadlineExceeded}), true, 1000},
		{"catalogue", fails(candor.New(candor.CodeUpstreamError, "The channel broke.")), true, 1000},
		{"words", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r := text("Error: socket hang up (ECONNRESET)")
			r.IsError = true
			return r, nil
		}, true, 1000},
		{"passed on", fails(candor.New(candor.CodeUpstreamError, "", candor.WithRetry(candor.RetryIn(3*time.Second)),
			candor.WithRef("r-1"), candor.WithTime(time.Now()))), true, 3000},
		{"429", fails(errors.New("request failed with status code 429 Too Many Requests: slow down, retry after 7 seconds")), true, 7000},
		{"refused", fails(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}), true, 1000},
		{"no name", fails(&net.DNSError{Err: "no such host", Name: "api.invalid", IsNotFound: true}), true, 1000},
		{"busy", fails(candor.New(dual.DBBusy, "")), true, 250},
		{"own trail", fails(candor.New(candor.CodeLedgerFailed, "", candor.WithOrigin(candor.PartyServer, false))), true, 5000},
		{"author", fails(candor.RetryableAfter(candor.CodeUpstreamError, 2*time.Second, "Nothing was sent.")), false, 0},
		{"author wrapped", fails(fmt.Errorf("posting: %w", candor.RetryableImmediately(candor.CodeUnavailable, ""))), false, 0},
	}
}

// TestRetryAdviceInvitesNoSecondEffect calls failing tools in front of a web API over real HTTP, in both eras, with and without
// annotations.
func TestRetryAdviceInvitesNoSecondEffect(t *testing.T) {
	t.Parallel()
	cases := effectCases()
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
