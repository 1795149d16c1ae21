package httpgate

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// A tool that reports unreachable hosts says nothing about the server, which has answered each time.
func TestBreakerIgnoresFailuresThatToolsReport(t *testing.T) {
	for _, said := range []string{"connect ECONNREFUSED 192.0.2.1:443", "503 Service Unavailable", "Request timed out", "fetch failed"} {
		g := newGuarded(t, gateway.Options{}, `{"name":"fetch_html"}`, map[string]func(string) string{
			"fetch_html": func(arguments string) string {
				if strings.Contains(arguments, "dead") {
					return toolFails(said)
				}
				return toolSays("<p>")
			},
		})
		for i := range 30 {
			if got := g.call("fetch_html", fmt.Sprintf(`{"url":"https://dead%d.example"}`, i)); got.Code == "CIRCUIT_OPEN" {
				t.Fatalf("dead host %d (%s): %+v", i, said, got)
			}
		}
		if got := g.call("fetch_html", `{"url":"https://alive.example"}`); got.Code != "" {
			t.Errorf("the host that answers (%s): %+v", said, got)
		}
	}
}

// newFragile starts a server that closes the connection on every call while down is set, and whose tool wait answers when
// released.
func newFragile(t *testing.T, o gateway.Options, down *atomic.Bool, release chan struct{}) *guarded {
	t.Helper()
	o.Repeats.Off = true
	act := func(string) string {
		if down.Load() {
			return ""
		}
		return toolSays("done")
	}
	return newGuarded(t, o, `{"name":"act"},{"name":"other"},{"name":"wait"}`, map[string]func(string) string{
		"act": act, "other": act, "wait": func(string) string { <-release; return toolSays("done") },
	})
}

// A trial that never ends keeps the breaker open no longer than one that fails.
func TestBreakerTrialThatNeverEndsDoesNotKeepItOpen(t *testing.T) {
	var down atomic.Bool
	release := make(chan struct{})
	g := newFragile(t, gateway.Options{Breaker: gateway.BreakerPolicy{Failures: 2, TrialInterval: 10 * time.Second}, Timeout: -1}, &down, release)
	down.Store(true)
	g.call("act", `{}`)
	g.call("act", `{}`)
	if got := g.call("act", `{}`); got.Code != "CIRCUIT_OPEN" || got.Retry.AfterMs != 10_000 {
		t.Fatalf("after two failures: %+v", got)
	}
	down.Store(false)
	g.clock.advance(10 * time.Second)
	ended := make(chan gatewaytest.Advised, 2)
	go func() { ended <- g.call("wait", `{}`) }()
	defer func() { close(release); <-ended }()
	for wait := 0; g.calls("wait") == 0; wait++ {
		if wait == 10_000 {
			t.Fatal("no trial is let through after the rest")
		}
		time.Sleep(time.Millisecond)
	}
	g.clock.advance(4 * time.Second)
	refused := g.call("act", `{}`)
	if refused.Code != "CIRCUIT_OPEN" || refused.Retry.AfterMs != 6000 {
		t.Fatalf("while the trial is open: %+v", refused)
	}
	g.clock.advance(time.Duration(refused.Retry.AfterMs) * time.Millisecond)
	if got := g.call("act", `{}`); got.Code != "" {
		t.Errorf("after the delay that the refusal gave: %+v", got)
	}
}

func TestBreakerGivesTrueDelays(t *testing.T) {
	var down atomic.Bool
	g := newFragile(t, gateway.Options{Breaker: gateway.BreakerPolicy{Failures: 2, TrialInterval: 10 * time.Second}}, &down, nil)
	down.Store(true)
	g.call("act", `{}`)
	g.call("other", `{}`)
	for range 5 {
		g.clock.advance(3 * time.Second)
		refused := g.call("act", `{}`)
		if refused.Code != "CIRCUIT_OPEN" || refused.Retry.AfterMs != 7000 {
			t.Fatalf("3 s after the failure: %+v", refused)
		}
		g.clock.advance(7*time.Second - time.Millisecond)
		if got := g.call("act", `{}`); got.Code != "CIRCUIT_OPEN" {
			t.Fatalf("a millisecond too early: %+v", got)
		}
		g.clock.advance(time.Millisecond)
		if got := g.call("act", `{}`); got.Code != "UPSTREAM_GONE" {
			t.Fatalf("after the delay: %+v", got)
		}
	}
}

// One tool that answers with garbage does not open the breaker; several such tools do.
func TestBreakerNeedsMoreThanOneToolThatAnswersBadly(t *testing.T) {
	g := newGuarded(t, gateway.Options{Breaker: gateway.BreakerPolicy{Failures: 3}, Repeats: gateway.RepeatPolicy{Off: true}}, `{"name":"bad"},{"name":"worse"},{"name":"good"}`,
		map[string]func(string) string{
			"bad": func(string) string { return "null" }, "worse": func(string) string { return "[]" }, "good": func(string) string { return toolSays("fine") },
		})
	for range 10 {
		if got := g.call("bad", `{}`); got.Code != "UPSTREAM_MALFORMED" {
			t.Fatalf("%+v", got)
		}
	}
	if got := g.call("good", `{}`); got.Code != "" {
		t.Errorf("a tool that works: %+v", got)
	}
	for _, tool := range []string{"bad", "worse", "bad"} {
		g.call(tool, `{}`)
	}
	if got := g.call("bad", `{}`); got.Code != "CIRCUIT_OPEN" {
		t.Errorf("after failures of two tools: %+v", got)
	}
}
