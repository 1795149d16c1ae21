package httpgate_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// newFragile starts a server that closes the connection on every call while down is set; its tool wait answers when
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
		"act": act, "other": act, "wait": func(string) string {
			if !down.Load() {
				<-release
			}
			return act("")
		},
	})
}

// A trial that never ends keeps the breaker open no longer than one that fails.
func TestBreakerTrialThatNeverEndsDoesNotKeepItOpen(t *testing.T) {
	var down atomic.Bool
	release := make(chan struct{})
	g := newFragile(t, gateway.Options{Breaker: gateway.BreakerPolicy{Failures: 2, TrialInterval: 10 * time.Second}, Timeout: -1}, &down, release)
	down.Store(true)
	g.call("act", `{}`)
	g.call("wait", `{}`)
	if got := g.call("act", `{}`); got.Code != "CIRCUIT_OPEN" || got.Retry.AfterMs != 10_000 {
		t.Fatalf("after two failures: %+v", got)
	}
	down.Store(false)
	g.clock.advance(10 * time.Second)
	ended := make(chan gatewaytest.Advised, 2)
	go func() { ended <- g.call("wait", `{}`) }()
	defer func() { close(release); <-ended }()
	gatewaytest.Eventually(t, "a trial after the rest", func() bool { return g.calls("wait") > 1 })
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
