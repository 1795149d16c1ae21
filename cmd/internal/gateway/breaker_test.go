package gateway

import (
	"fmt"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// knock opens a call. It returns nil if the breaker refuses it.
func knock(t *testing.T, up *Upstream) *Call {
	t.Helper()
	return knockAt(t, up, "work")
}

func knockAt(t *testing.T, up *Upstream, tool string) *Call {
	t.Helper()
	m := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool), wire.Limits{})
	call, _ := up.Admit(t.Context(), &m, "s1")
	return call
}

// A client that is less patient than the gateway cancels calls that a hanging server does not answer. That is not a success of
// the server.
func TestCancelledCallDoesNotCloseTheBreaker(t *testing.T) {
	up := New(Options{Breaker: BreakerPolicy{Failures: 2, TrialInterval: time.Hour}, Repeats: RepeatPolicy{Off: true}})
	hangs := candor.New(candor.CodeCallTimeout, "", candor.WithOrigin(candor.PartyGateway, false))
	knock(t, up).Fail(t.Context(), hangs)
	knock(t, up).Cancelled(t.Context())
	knockAt(t, up, "rest").Fail(t.Context(), hangs)
	if knock(t, up) != nil {
		t.Error("the call that was called off made the server well")
	}
}

func TestCancelledTrialKeepsTheBreakerOpen(t *testing.T) {
	clock := newManualClock()
	up := New(Options{Breaker: BreakerPolicy{Failures: 1, TrialInterval: time.Hour}, Repeats: RepeatPolicy{Off: true}, Now: clock.Now})
	knock(t, up).Fail(t.Context(), candor.New(candor.CodeUpstreamGone, "", candor.WithOrigin(candor.PartyGateway, false)))
	clock.advance(time.Hour)
	trial := knock(t, up)
	if trial == nil {
		t.Fatal("there is no trial")
	}
	trial.Cancelled(t.Context())
	if knock(t, up) != nil {
		t.Error("a trial that has shown nothing made the server well")
	}
}

// A call from before the breaker opened, which its client cancels during the trial, does not affect the trial.
func TestOlderCancelledCallDoesNotEndTheTrial(t *testing.T) {
	clock := newManualClock()
	up := New(Options{Breaker: BreakerPolicy{Failures: 1, TrialInterval: time.Hour}, Repeats: RepeatPolicy{Off: true}, Now: clock.Now})
	old := knock(t, up)
	knock(t, up).Fail(t.Context(), candor.New(candor.CodeUpstreamGone, "", candor.WithOrigin(candor.PartyGateway, false)))
	clock.advance(time.Hour)
	trial := knock(t, up)
	old.Cancelled(t.Context())
	trial.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
	if knock(t, up) == nil {
		t.Error("the server that is well is still at rest")
	}
}

// Mistakes of the caller count neither for the tool that reports them nor for the server that rejects them.
func TestMistakesOfTheCallerDoNotOpenTheBreaker(t *testing.T) {
	up := New(Options{Breaker: BreakerPolicy{Failures: 2, TrialInterval: time.Hour}, Repeats: RepeatPolicy{Off: true}})
	list := wire.Parse([]byte(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`), wire.Limits{})
	listing, _ := up.Admit(t.Context(), &list, "s1")
	listing.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":9,"result":{"tools":[{"name":"work"}]}}`))
	mistakes := map[string]func(*Call){
		"a result": func(c *Call) {
			c.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Invalid argument: path is required"}],"isError":true}}`))
		},
		"a JSON-RPC error": func(c *Call) {
			c.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}`))
		},
		"a rejection": func(c *Call) {
			c.Lose(t.Context(), candor.New(candor.CodeInvalidRequest, "", candor.WithOrigin(candor.PartyServer, true)), nil, true)
		},
		"a denial": func(c *Call) {
			c.Lose(t.Context(), candor.New(candor.CodePermissionDenied, "", candor.WithOrigin(candor.PartyServer, true)), nil, true)
		},
	}
	for name, mistake := range mistakes {
		for i := range 5 {
			call := knock(t, up)
			if call == nil {
				t.Fatalf("%s: the way is closed after %d", name, i)
			}
			mistake(call)
		}
	}
}

// manualClock is a clock that a test advances.
type manualClock struct{ now time.Time }

func newManualClock() *manualClock {
	return &manualClock{now: time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC)}
}

func (c *manualClock) Now() time.Time { return c.now }

func (c *manualClock) advance(d time.Duration) { c.now = c.now.Add(d) }
