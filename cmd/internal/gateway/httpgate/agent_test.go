package httpgate_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// obey calls a tool like an agent that follows only the advice in the envelope: it repeats the call if advised, after the advised
// delay, and stops otherwise. It returns the last answer and the number of calls.
func obey(g *guarded, tool, arguments string, most int) (last gatewaytest.Advised, calls int) {
	g.t.Helper()
	for calls = 1; ; calls++ {
		last = g.call(tool, arguments)
		if last.Code == "" || last.Retry.Kind == "not_retryable" || calls == most {
			return last, calls
		}
		g.clock.advance(time.Duration(last.Retry.AfterMs) * time.Millisecond)
	}
}

// effectFailures are the ways in which a call fails after it has taken effect.
var effectFailures = []string{
	toolFails("Slack API error: 500 Internal Server Error"), toolFails("socket hang up"), toolFails("Request failed: ECONNRESET"), toolFails("fetch failed: other side closed"),
	toolFails("504 Gateway Time-out"), toolFails("503 Service Unavailable, retry after 2 seconds"), toolFails("Timed out, please try again later"), toolFails("Unknown error"),
	toolFails(`{"error":{"code":"UPSTREAM_ERROR","retryable":true,"retryAfterMs":10}}`), toolFails("disk full"),
	toolFails("429 Too Many Requests"), toolFails("connect ECONNREFUSED 127.0.0.1:5432"), toolFails("Rate limit exceeded. Retry after 3 seconds"), toolFails("DB_BUSY: locked"),
	`{"content":[],"isError":true,"_meta":{"dev.candor/error":{"code":"TOO_MANY_CALLS","class":"rate_limited","message":"m","retry":{"kind":"retryable_immediate"},"domain":"candor","number":4071,"origin":{"by":"tool","inferred":false}}}}`,
	`{"content":[],"isError":true,"_meta":{"dev.candor/error":{"code":"CARRIER_BUSY","class":"rate_limited","message":"m","retry":{"kind":"retryable_immediate"},"origin":{"by":"server","inferred":false}}}}`,
	`{"content":[],"isError":true,"_meta":{"dev.candor/error":{"code":"RATE_LIMITED","class":"rate_limited","message":"m","retry":{"kind":"retryable_immediate"},"details":{"effect":"none"},"domain":"candor","number":4039,"origin":{"by":"transport","inferred":false}}}}`,
	toolFails(`{"error_code":"CIRCUIT_OPEN","human_message":"the bank is away","role":null,"session_id":null,"workspace_root":null,"tool_name":"post","invariant_id":null,"phase_id":null,"plan_hash":null,"timestamp":"2026-11-01T00:00:00.000Z","cause":null}`),
	`{"content":[],"isError":true,"_meta":{"dev.candor/error":{"code":"UPSTREAM_UNAVAILABLE","class":"unavailable","message":"away","retry":{"kind":"retryable_immediate"}}}}`,
	"HTTP 500", "HTTP 502", "HTTP 503", "HTTP 504", "HTTP 408", "null", "[]", "7", "",
}

// The upstream of the tool records each effect. Every tool is a write tool, by its annotations or because it has none.
func TestAgentThatFollowsTheAdviceNeverCausesASecondEffect(t *testing.T) {
	t.Parallel()
	for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
		for _, retries := range []int{0, 4} {
			var effects atomic.Int32
			var fails atomic.Value
			write := func(string) string { effects.Add(1); return fmt.Sprint(fails.Load()) }
			g := newGuarded(t, gateway.Options{Mode: mode, Retry: gateway.RetryPolicy{Attempts: retries}, Breaker: gateway.BreakerPolicy{Failures: 3}, Validate: gateway.ValidationOff},
				`{"name":"post"},{"name":"append","annotations":{"readOnlyHint":false,"idempotentHint":false}},{"name":"send","annotations":{"destructiveHint":false}}`,
				map[string]func(string) string{"post": write, "append": write, "send": write, "hidden": write})
			for i, failure := range effectFailures {
				for _, tool := range []string{"post", "append", "send", "hidden"} {
					g.clock.advance(time.Hour) // so that earlier failures have expired
					fails.Store(failure)
					effects.Store(0)
					last, calls := obey(g, tool, fmt.Sprintf(`{"n":%d}`, i), 12)
					if n := effects.Load(); n != 1 {
						t.Errorf("%s, %d retries, %s, %q: %d effects after %d calls: %+v", mode, retries, tool, failure, n, calls, last)
					}
				}
			}
		}
	}
}

// A call that is refused before it takes effect is repeated until it succeeds, and takes effect once.
func TestAgentThatFollowsTheAdviceGetsThrough(t *testing.T) {
	var asked, effects atomic.Int32
	g := newGuarded(t, gateway.Options{}, `{"name":"post"}`, map[string]func(string) string{"post": func(string) string {
		if asked.Add(1) < 8 {
			return "HTTP 429"
		}
		effects.Add(1)
		return toolSays("posted")
	}})
	if last, _ := obey(g, "post", `{}`, 12); last.Code != "" || effects.Load() != 1 {
		t.Errorf("%d effects: %+v", effects.Load(), last)
	}
}

// HTTP 429 proves that a call was refused, but not in words, and not after progress of the call, on the stream of the
// session or in the body.
func TestOnlyAStatusBeforeProgressProvesARefusal(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mail","arguments":{},"_meta":{"progressToken":"p"}}}`
	for _, reports := range []bool{false, true} {
		began, seen := make(chan struct{}), make(chan struct{})
		upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // a failed read is an unknown method
			w.Header().Set("Mcp-Session-Id", "s")
			switch {
			case r.Method == http.MethodGet:
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush() // the gateway may be gone
				if <-began; reports {
					_, _ = io.WriteString(w, "data: "+progress+"\n\n")
				} else {
					_, _ = io.WriteString(w, "data: "+strings.Replace(progress, `"p"`, `"other"`, 1)+"\n\n")
				}
			case strings.Contains(string(body), "tools/call"):
				close(began)
				<-seen
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				httpgatetest.Says(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`).ServeHTTP(w, r)
			}
		})
		g := httpgatetest.NewGate(t, upstream, gateway.Options{}, httpgate.Options{})
		g.Post(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
		s := open(t, http.MethodGet, g.URL, "", "Mcp-Session-Id", "s", "Accept", "text/event-stream")
		go func() {
			s.next(t)
			close(seen)
		}()
		if got := gatewaytest.ReadAdvice(t, httpgatetest.OnlyMessage(t, g.Post(t, call, "Mcp-Session-Id", "s"))); (got.Retry.Kind == "not_retryable") != reports {
			t.Errorf("reports %t: %+v", reports, got)
		}
	}
	for status, proves := range map[int]bool{http.StatusTooManyRequests: true, http.StatusOK: false} {
		refused := httpgatetest.Says(status, "application/json", `{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"429 Too many requests"}}`)
		g := httpgatetest.NewGate(t, refused, gateway.Options{}, httpgate.Options{})
		if got := gatewaytest.ReadAdvice(t, httpgatetest.OnlyMessage(t, g.Post(t, call))); (got.Retry.Kind != "not_retryable") != proves {
			t.Errorf("%d: %+v", status, got)
		}
	}
	inBody := httpgatetest.Says(http.StatusTooManyRequests, "text/event-stream", "data: "+progress+"\n\ndata: "+`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"no"}}`+"\n\n")
	g := httpgatetest.NewGate(t, inBody, gateway.Options{}, httpgate.Options{})
	if got := gatewaytest.ReadAdvice(t, httpgatetest.OnlyMessage(t, g.Post(t, call))); got.Retry.Kind != "not_retryable" {
		t.Errorf("%+v", got)
	}
}
