package stdio

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// Messages written + suppressed = entries = counts, and each call gets one answer, whatever the server and the client do.
func TestRecordsAndCountersAgreeUnderFaults(t *testing.T) {
	t.Parallel()
	const calls, together = 5000, 64
	child := badChild()
	child.Restart = RestartPolicy{Tries: calls, Wait: time.Millisecond, MaxWait: time.Millisecond}
	s := wrapped(t, gateway.Options{Timeout: 10 * time.Second, Timeouts: map[string]time.Duration{"hang": 50 * time.Millisecond, "wrongid": 50 * time.Millisecond}}, child)
	s.greet()
	window := make(chan struct{}, together)
	go func() {
		random := rand.New(rand.NewPCG(5, 5))
		for id := range calls {
			window <- struct{}{}
			s.send(mischief(random, id))
		}
	}()
	answered, told := map[string]int{}, 0
	for range calls {
		line := s.next()
		id, _ := gatewaytest.IDOf(line)
		answered[id]++
		if gatewaytest.CodeOf(line) != "" {
			told++
		}
		<-window
	}
	s.hangUp()
	for _, line := range s.rest() {
		t.Errorf("one more: %s", line)
	}
	for id, times := range answered {
		if times != 1 && id != "" { // an unreadable message is answered without an id
			t.Errorf("%s was answered %d times", id, times)
		}
	}
	s.books.CheckTotals(t, told)
	t.Logf("told %d: %v", told, s.books.ByCode())
}

// mischief returns one line from a client that must get one answer.
func mischief(random *rand.Rand, id int) string {
	faults := []string{"echo", "echo", "echo", "fail", "hang", "noise", "wrongid", "duplicate", "both", "neither", "twice", "batch", "baderror", "utf8", "bom", "late"}
	switch n := random.IntN(200); {
	case n == 0:
		return gatewaytest.ToolCall(id, []string{"exit", "crash", "half", "killed", "mute"}[random.IntN(5)], `{}`)
	case n < 10:
		return gatewaytest.ToolCall(id, "echo", `{"ms":"many"}`)
	case n < 20:
		return gatewaytest.ToolCall(id, "ecko", `{}`)
	case n < 30:
		return "no message at all"
	case n < 40:
		return gatewaytest.ToolCall(id, "echo", `{"n":1,"n":2}`)
	case n < 50: // the cancellation names no call; the call after it is answered
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}` + "\n" + gatewaytest.ToolCall(id, "echo", `{}`)
	default:
		return gatewaytest.ToolCall(id, faults[random.IntN(len(faults))], `{"ms":1}`)
	}
}
