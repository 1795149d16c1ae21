package gateway

import (
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// knock asks for a call, which is nil if a breaker refuses it.
func knock(t *testing.T, up *Upstream) *Call {
	t.Helper()
	m := wire.Parse([]byte(toolCall(1, "work", `{}`)), wire.Limits{})
	call, _ := up.Admit(t.Context(), &m, "s1")
	return call
}

// A client that has less patience than the gateway calls off what a server does not answer. That is no success of the server's.
func TestACallThatIsCalledOffDoesNotSpeakForTheServer(t *testing.T) {
	up := New(Options{Breaker: BreakerPolicy{Failures: 2, Rest: time.Hour}, Repeats: RepeatPolicy{Off: true}})
	hangs := candor.New(candor.CodeCallTimeout, "", candor.WithOrigin(candor.PartyGateway, false))
	knock(t, up).Fail(t.Context(), hangs)
	knock(t, up).Cancelled(t.Context())
	knock(t, up).Fail(t.Context(), hangs)
	if knock(t, up) != nil {
		t.Error("the call that was called off made the server well")
	}
}

func TestATrialThatIsCalledOffLeavesTheServerAtRest(t *testing.T) {
	up := New(Options{Breaker: BreakerPolicy{Failures: 1, Rest: time.Hour}, Repeats: RepeatPolicy{Off: true}})
	knock(t, up).Fail(t.Context(), candor.New(candor.CodeCallTimeout, "", candor.WithOrigin(candor.PartyGateway, false)))
	up.breakers.server.HalfOpen() // as if it had rested long enough
	trial := knock(t, up)
	if trial == nil {
		t.Fatal("there is no trial")
	}
	trial.Cancelled(t.Context())
	if knock(t, up) != nil {
		t.Error("a trial that has shown nothing made the server well")
	}
}
