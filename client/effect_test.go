package client_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/contract"
)

// TestClientAdviceInvitesNoSecondEffect calls a server that is not built on Candor. Its tool may have posted before it failed.
func TestClientAdviceInvitesNoSecondEffect(t *testing.T) {
	t.Parallel()
	for path, connect := range clientPaths {
		for _, annotations := range []*mcp.ToolAnnotations{nil, readOnly, idempotent} {
			var posts atomic.Int64
			var says atomic.Pointer[string]
			session := connect(t, toolServer("post", annotations, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				posts.Add(1)
				r := &mcp.CallToolResult{}
				r.SetError(errors.New(*says.Load()))
				return r, nil
			}))
			for _, text := range []string{
				"Request failed with status code 500", "503 Service Unavailable, retry after 1 seconds", "socket hang up", "ECONNRESET",
				"504 Gateway Timeout", "429 Too Many Requests", "connect ECONNREFUSED 127.0.0.1:5432",
			} {
				says.Store(&text)
				posts.Store(0)
				e := client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "post"}))
				checkCareful(t, path+" Decode: "+text, e)
				caller := client.Caller{Session: session, MaxWait: time.Millisecond}
				posts.Store(0)
				_, e = caller.CallTool(t.Context(), &mcp.CallToolParams{Name: "post"})
				if annotations == nil {
					checkCareful(t, path+" Caller: "+text, e)
				} else if !e.Retry().Retryable() {
					t.Errorf("%s: Caller returns %s %s for a tool that may be called twice", path, e, e.Retry())
				}
				if posts.Load() != 1 {
					t.Errorf("%s %q: posted %d times", path, text, posts.Load())
				}
			}
		}
	}
}

func checkCareful(t *testing.T, what string, e *candor.Error) {
	t.Helper()
	refused := strings.Contains(e.Message(), "ECONNREFUSED") && strings.HasPrefix(e.Suggestion(), "Tell the operator")
	if e.Retry().Retryable() || !refused && !strings.HasPrefix(e.Suggestion(), contract.CheckEffect) || e.Details().Get("said").Get("retry").IsZero() {
		t.Errorf("%s: %s, %s, %q, %s", what, e, e.Retry(), e.Suggestion(), e.Details())
	}
}
