package httpgate

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
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
	for _, refusal := range []string{toolFails("429 Too Many Requests"), "HTTP 429", toolFails("connect ECONNREFUSED 127.0.0.1:5432"), toolFails("Rate limit exceeded. Retry after 3 seconds")} {
		var asked, effects atomic.Int32
		g := newGuarded(t, gateway.Options{}, `{"name":"post"}`, map[string]func(string) string{"post": func(string) string {
			if asked.Add(1) < 8 {
				return refusal
			}
			effects.Add(1)
			return toolSays("posted")
		}})
		if last, _ := obey(g, "post", `{}`, 12); last.Code != "" || effects.Load() != 1 {
			t.Errorf("%s: %d effects: %+v", refusal, effects.Load(), last)
		}
	}
}

// An agent that ignores the advice is stopped, whatever the failure.
func TestAgentThatIgnoresTheAdviceIsStoppedWithinEightCalls(t *testing.T) {
	for _, failure := range append([]string{toolFails("ENOENT: no such file or directory"), toolFails("429 Too Many Requests")}, effectFailures...) {
		g := newGuarded(t, gateway.Options{}, `{"name":"post"}`, map[string]func(string) string{"post": func(string) string { return failure }})
		stopped := 0
		for i := 1; i <= 8 && stopped == 0; i++ {
			if code := g.call("post", `{}`).Code; code == "REPEATED_FAILURE" || code == "CIRCUIT_OPEN" {
				stopped = i
			}
		}
		if stopped == 0 {
			t.Errorf("%q: not stopped", failure)
		}
	}
}
