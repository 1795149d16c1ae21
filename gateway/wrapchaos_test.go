package gateway

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Messages written + suppressed = entries = counts, and one answer to each call, whatever the server does meanwhile.
func TestTheBooksBalanceThroughChaos(t *testing.T) {
	const calls = 5000
	child := badChild()
	child.Restart = RestartPolicy{Tries: 1000, Wait: time.Millisecond, MaxWait: time.Millisecond}
	s := wrapped(t, Options{Timeout: 10 * time.Second, Timeouts: map[string]time.Duration{"hang": 20 * time.Millisecond}}, child)
	s.greet()
	random := rand.New(rand.NewPCG(5, 5))
	faults := []string{"echo", "echo", "echo", "fail", "hang", "noise", "wrongid", "duplicate", "both", "neither", "twice", "batch", "baderror", "utf8", "bom", "late"}
	cancelled, bad := map[string]bool{}, 0
	go func() {
		for id := range calls {
			fault := faults[random.IntN(len(faults))]
			arguments := `{"ms":1}`
			switch n := random.IntN(400); {
			case n == 0:
				fault = []string{"exit", "crash", "half", "killed"}[random.IntN(4)]
			case n < 20:
				arguments = `{"ms":"many"}`
			}
			if fault == "wrongid" {
				arguments = `{"n":1,"n":2}`
			}
			s.call(id, fault, arguments)
		}
		s.send(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	}()
	answered, told := map[string]int{}, 0
	for range calls + 1 {
		line := s.next()
		id, isAnswer := idOf(line)
		for !isAnswer && id != "" {
			line = s.next()
			id, isAnswer = idOf(line)
		}
		answered[id]++
		if codeOf(line) != "" {
			told++
		}
	}
	s.hangUp()
	for _, line := range s.rest() {
		t.Errorf("one more: %s", line)
	}
	for id := range calls {
		if got := answered[strconv.Itoa(id)]; got != 1 {
			t.Errorf("%d was answered %d times", id, got)
		}
	}
	s.balanced(told)
	t.Logf("told %d: %v; %d cancelled, %d bad lines", told, s.books.codes, len(cancelled), bad)
}

func TestMemoryStaysBoundedWhateverTheServerSends(t *testing.T) {
	const most = 128 << 20
	s := wrapped(t, Options{}, badChild())
	s.greet()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.call(1, "huge", `{}`)
	s.call(2, "hugenoise", `{}`)
	for _, id := range []string{"1", "2"} {
		s.answer(id)
	}
	notes := 1_000_000
	if testing.Short() {
		notes = 100_000
	}
	s.call(3, "flood", fmt.Sprintf(`{"n":%d}`, notes))
	seen := 0
	for line := s.next(); !strings.Contains(line, `"id":3`); line = s.next() {
		seen++
	}
	runtime.ReadMemStats(&after)
	if seen != notes {
		t.Errorf("%d of %d notifications came", seen, notes)
	}
	if after.Sys > most {
		t.Errorf("%d MiB, before %d", after.Sys>>20, before.Sys>>20)
	}
	t.Logf("%d MiB in all, %d before", after.Sys>>20, before.Sys>>20)
}
