package chaos

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// fakeStore is a store in memory. Its fields break one promise each.
type fakeStore struct {
	fleet.Store // the methods that no test here calls

	breaksCAS     bool // looks at the head and appends later
	losesAcks     bool // acknowledges entries that it does not keep
	readsOld      bool // returns an earlier head
	refusesTwice  bool // returns a conflict for an append that it has made
	forgetsErrors bool // returns errors, rightly, for appends that it made and for others that it did not make

	mu    sync.Mutex
	rng   *rand.Rand
	heads []fleet.Head
}

func (s *fakeStore) last() fleet.Head {
	if len(s.heads) == 0 {
		return fleet.Head{}
	}
	return s.heads[len(s.heads)-1]
}

func (s *fakeStore) chance(n int) bool { return s.rng.IntN(n) == 0 }

func (s *fakeStore) Append(_ context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last() != after {
		return &fleet.ConflictError{Chain: chain, Head: s.last()}
	}
	if s.breaksCAS {
		s.mu.Unlock()
		time.Sleep(time.Millisecond)
		s.mu.Lock()
	}
	if s.losesAcks && s.chance(20) {
		return nil
	}
	lost := s.forgetsErrors && s.chance(3)
	if lost && s.chance(2) {
		return errors.New("lost before it was stored")
	}
	head := headOf(lines[len(lines)-1])
	head.Seq = after.Seq + uint64(len(lines))
	s.heads = append(s.heads, head)
	if s.refusesTwice && s.chance(10) {
		return &fleet.ConflictError{Chain: chain, Head: s.last()}
	}
	if lost {
		return errors.New("lost after it was stored")
	}
	return nil
}

func (s *fakeStore) Head(context.Context, fleet.Chain) (fleet.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readsOld && len(s.heads) > 3 {
		return s.heads[len(s.heads)-3], nil
	}
	return s.last(), nil
}

// play lets four clients compete for a chain of the store and returns their history.
func play(t *testing.T, store fleet.Store) []operation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history")
	var files []string
	var clients sync.WaitGroup
	began := time.Now()
	for client := range 4 {
		name := file + string(rune('0'+client))
		files = append(files, name)
		out, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		c := &competitor{store: store, chain: fleet.Chain{Node: "n", Name: "c"}, client: client, rng: rand.New(rand.NewPCG(uint64(client), 1)),
			record: &recorder{to: out}, clock: func() int64 { return int64(time.Since(began)) }}
		clients.Go(func() {
			defer out.Close() //nolint:errcheck // the history would be short, and the test fail
			if err := c.run(t.Context(), nil, time.Millisecond, 200); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
	return readHistory(t, files...)
}

func newFake() *fakeStore { return &fakeStore{rng: rand.New(rand.NewPCG(1, 2))} }

func TestCheckerAcceptsAStoreThatOnlyLosesAnswers(t *testing.T) {
	store := newFake()
	store.forgetsErrors = true
	history := play(t, store)
	t.Log(summary(history))
	for _, how := range []strict{true, false} {
		if got := linearizable(history, how); got != porcupine.Ok {
			t.Errorf("strict=%v: %s, want Ok", how, got)
		}
	}
}

func TestCheckerFindsBrokenStores(t *testing.T) {
	for name, damage := range map[string]func(*fakeStore){
		"compare-and-set is two steps":      func(s *fakeStore) { s.breaksCAS = true },
		"acknowledged entries are lost":     func(s *fakeStore) { s.losesAcks = true },
		"a conflict for an entry it stored": func(s *fakeStore) { s.refusesTwice = true },
	} {
		t.Run(name, func(t *testing.T) {
			store := newFake()
			damage(store)
			history := play(t, store)
			t.Log(summary(history))
			for _, how := range []strict{true, false} {
				if got := linearizable(history, how); got != porcupine.Illegal {
					t.Errorf("strict=%v: %s, want Illegal", how, got)
				}
			}
		})
	}
}

func TestOldHeadsAreFoundOnlyIfTheyMatter(t *testing.T) {
	store := newFake()
	store.readsOld = true
	history := play(t, store)
	if got := linearizable(history, true); got != porcupine.Illegal {
		t.Errorf("strict: %s, want Illegal", got)
	}
	if got := linearizable(history, false); got != porcupine.Ok {
		t.Errorf("not strict: %s, want Ok", got)
	}
}

func TestHistoryOfAKilledProcessEndsWithAnUnknownResult(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	var text bytes.Buffer
	r := &recorder{to: &text}
	for _, op := range []operation{{Number: 1, Kind: kindHead}, {Number: 1, Kind: kindHead, Result: resultOK}, {Number: 2, Kind: kindAppend}} {
		if err := r.write(op); err != nil {
			t.Fatal(err)
		}
	}
	text.WriteString(`{"number":2,"ki`)
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	history := readHistory(t, file)
	if len(history) != 2 || history[0].Result != resultOK || history[1].Result != "" {
		t.Errorf("got %+v", history)
	}
}
