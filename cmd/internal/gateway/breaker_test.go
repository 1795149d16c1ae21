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
	return knockIn(t, up, "s1", tool)
}

func knockIn(t *testing.T, up *Upstream, session, tool string) *Call {
	t.Helper()
	m := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool), wire.Limits{})
	call, _ := up.Admit(t.Context(), &m, session)
	return call
}

// A client that is less patient than the gateway cancels calls that a hanging server does not answer. That is not a success of
// the server.
func TestCancelledCallDoesNotResetTheFailureCount(t *testing.T) {
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

// Mistakes of the caller do not count for the tool that reports them or the server that rejects them.
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

// One caller in a loop over two broken tools must not stop the calls of another.
func TestBreakerDoesNotRefuseACallerWhoseCallsSucceed(t *testing.T) {
	clock := newManualClock()
	up := New(Options{Breaker: BreakerPolicy{Failures: 10}, Repeats: RepeatPolicy{Off: true}, Now: clock.Now})
	for range 40 {
		for range 25 {
			failIfAdmitted(t, knockIn(t, up, "loop", "bad"))
			failIfAdmitted(t, knockIn(t, up, "loop", "worse"))
			clock.advance(20 * time.Millisecond)
		}
		call := knockIn(t, up, "other", "good")
		if call == nil {
			t.Fatal("a call of another caller is refused")
		}
		call.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
	}
	for range 10 {
		failIfAdmitted(t, knockIn(t, up, "loop", "bad"))
		failIfAdmitted(t, knockIn(t, up, "loop", "worse"))
	}
	if knockIn(t, up, "loop", "bad") != nil {
		t.Error("the breaker is not open for the caller whose calls fail")
	}
	failIfAdmitted(t, knockIn(t, up, "third", "good"))
	if knockIn(t, up, "third", "good") != nil {
		t.Error("the breaker is not open for a caller whose first call failed")
	}
}

// Neither do calls under more names than are remembered, nor calls of a client that looks the same, because it has no
// session.
func TestBreakerDoesNotRefuseACallerThatItDoesNotKnow(t *testing.T) {
	many := func(i int) string { return fmt.Sprint("s", i) }
	for name, session := range map[string]func(int) string{"many sessions": many, "no session": func(int) string { return "" }} {
		up := New(Options{Breaker: BreakerPolicy{Failures: 10}, Repeats: RepeatPolicy{Off: true}})
		for i := range maxFailedCallers + 10 {
			failIfAdmitted(t, knockIn(t, up, session(i), "bad"))
			failIfAdmitted(t, knockIn(t, up, session(i), "worse"))
		}
		if knockIn(t, up, session(0), "bad") != nil {
			t.Errorf("%s: the breaker is not open", name)
		}
		if knockIn(t, up, session(-1), "good") == nil {
			t.Errorf("%s: a call of another caller is refused", name)
		}
		if n := len(up.Breaker.failed); n > maxFailedCallers {
			t.Errorf("%s: %d callers are remembered", name, n)
		}
	}
}

// The calls in a loop take one trial, and a call with other arguments takes the other one.
func TestBreakerTrialsTakeTurnsBetweenCallsOfOneCaller(t *testing.T) {
	clock := newManualClock()
	up := New(Options{Breaker: BreakerPolicy{Failures: 4, TrialInterval: 10 * time.Second}, Repeats: RepeatPolicy{Off: true}, Now: clock.Now})
	trial := func(tool string) bool {
		call := knockIn(t, up, "s1", tool)
		failIfAdmitted(t, call)
		return call != nil
	}
	for range 4 {
		trial("bad")
		trial("worse")
	}
	if clock.advance(9 * time.Second); trial("bad") || trial("good") {
		t.Fatal("a trial before its time")
	}
	clock.advance(time.Second)
	if !trial("bad") || trial("worse") {
		t.Error("the calls that have failed do not share one trial")
	}
	if !trial("good") || trial("fine") {
		t.Error("the calls that have not failed do not share one trial")
	}
}

func failIfAdmitted(t *testing.T, call *Call) {
	t.Helper()
	if call != nil {
		call.Fail(t.Context(), candor.New(candor.CodeUpstreamUnavailable, "", candor.WithOrigin(candor.PartyServer, false)))
	}
}
