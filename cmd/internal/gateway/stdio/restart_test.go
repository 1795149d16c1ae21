package stdio

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

func restarting() Child {
	child := badChild()
	child.Restart = RestartPolicy{Tries: 3, Wait: time.Millisecond}
	return child
}

func TestAClientNeedNotNoticeThatTheServerWasStartedAgain(t *testing.T) {
	t.Parallel()
	s := wrapped(t, gateway.Options{Validate: gateway.ValidationStrict}, restarting())
	s.greet()
	s.call(1, "hang", `{}`)
	s.call(2, "exit", `{}`)
	for _, id := range []string{"1", "2"} {
		if answer := s.answer(id); gatewaytest.CodeOf(answer) != "UPSTREAM_GONE" {
			t.Error(answer)
		}
	}
	s.call(3, "echo", `{"text":"again"}`)
	if answer := s.answer("3"); !strings.Contains(answer, "again") || gatewaytest.CodeOf(answer) != "" {
		t.Error(answer)
	}
	s.call(4, "echo", `{"wrong":1}`)
	if answer := s.answer("4"); gatewaytest.CodeOf(answer) != "INVALID_ARGUMENTS" {
		t.Errorf("the new server's tools are not known: %s", answer)
	}
	exit := s.hangUp()
	if exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
	for _, line := range s.rest() {
		t.Errorf("the client has noticed: %s", line)
	}
	s.books.CheckTotals(t, 3)
}

// Calls lost in one crash were made before any client could know of it, so they are not repetitions.
func TestOneCrashIsOneFailureHoweverManyCallsItLoses(t *testing.T) {
	t.Parallel()
	o := gateway.Options{Repeats: gateway.RepeatPolicy{After: 3}, Breaker: gateway.BreakerPolicy{Off: true}}
	s := wrappedAs(t, o, restarting())
	s.greet()
	const calls = 6
	for id := range calls {
		s.call(id, "hang", `{}`)
	}
	s.call(calls, "exit", `{}`)
	for id := range calls + 1 {
		if answer := s.answer(strconv.Itoa(id)); gatewaytest.CodeOf(answer) != "UPSTREAM_GONE" || strings.Contains(answer, `"repeated"`) {
			t.Errorf("a call that the crash has lost: %s", answer)
		}
	}
	s.call(calls+1, "hang", `{}`) // the first repetition
	for id := calls + 2; id < calls+5; id++ {
		s.call(id, "exit", `{}`) // and a loop of them
		want := "UPSTREAM_GONE"
		if id == calls+4 {
			want = "REPEATED_FAILURE"
		}
		if answer := s.answer(strconv.Itoa(id)); gatewaytest.CodeOf(answer) != want {
			t.Errorf("crash %d: %s, want %s", id-calls, answer, want)
		}
	}
	if answer := s.answer(strconv.Itoa(calls + 1)); gatewaytest.CodeOf(answer) != "UPSTREAM_GONE" {
		t.Errorf("the first repeat is stopped: %s", answer)
	}
}

func TestAnAnswerToTheOldServerIsNotGivenToTheNewOne(t *testing.T) {
	s := wrapped(t, gateway.Options{}, restarting())
	s.greet()
	s.call(1, "ask", `{}`)
	for !strings.Contains(s.next(), "roots/list") {
	}
	s.call(2, "exit", `{}`)
	for !strings.Contains(s.next(), `"method":"notifications/cancelled","params":{"requestId":1,`) {
	}
	s.call(3, "ask", `{}`)
	for !strings.Contains(s.next(), "roots/list") {
	}
	s.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`) // the new server also counts from 1
	if answer := s.answer("3"); gatewaytest.CodeOf(answer) != "" {
		t.Error(answer)
	}
}

func TestAServerThatClosesItsInputIsReplaced(t *testing.T) {
	t.Parallel()
	s := wrapped(t, gateway.Options{Timeouts: map[string]time.Duration{"echo": 300 * time.Millisecond}}, restarting())
	s.greet()
	s.call(1, "closed", `{}`)
	for id := 2; gatewaytest.CodeOf(s.replyTo(id)) != ""; id++ { // the pipe accepts one before it breaks
	}
	if answer := s.answer("1"); gatewaytest.CodeOf(answer) != "UPSTREAM_GONE" {
		t.Error(answer)
	}
}

func TestRestartsAreLimited(t *testing.T) {
	t.Parallel()
	s := wrapped(t, gateway.Options{}, restarting())
	s.greet()
	for id := range 4 {
		s.call(id, "exit", `{}`)
		if answer := s.answer(string(rune('0' + id))); gatewaytest.CodeOf(answer) != "UPSTREAM_GONE" {
			t.Error(answer)
		}
	}
	if exit := s.wait(); exit.Code != 3 {
		t.Errorf("%+v", exit)
	}
	s.books.CheckTotals(t, 4)
}

func TestAServerThatDoesNotReadIsKilledInTime(t *testing.T) {
	t.Parallel()
	child := restarting()
	s := wrapped(t, gateway.Options{Timeout: 300 * time.Millisecond}, child)
	s.greet()
	s.call(0, "deaf", `{}`)
	const calls = 100
	padding := strings.Repeat("x", 4000) // exceeds the buffer of a pipe
	go func() {
		for id := 1; id <= calls; id++ {
			s.call(id, "echo", `{"text":"`+padding+`"}`)
		}
		s.call(calls+1, "echo", `{}`)
	}()
	for id := range calls + 2 {
		s.answer(strconv.Itoa(id))
	}
}
