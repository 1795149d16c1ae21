package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

const appenders = 32

// oneOfManyAppenders lets many appenders continue the same head with different entries, on several connections: one line or a batch.
func oneOfManyAppenders(t *testing.T, s *suite) {
	stores := []fleet.Store{s.Store, s.Again(t), s.Again(t), s.Again(t)}
	chain := fleet.Chain{Node: "n", Name: "c"}
	var want [][]byte
	head := fleet.Head{}
	for round := range 5 {
		winner := make(chan [][]byte, appenders)
		var group sync.WaitGroup
		for i := range appenders {
			first := NextLine(chain, head, fmt.Appendf(nil, "round %d, appender %d", round, i))
			lines := append([][]byte{first}, MakeLines(chain, HeadOf(t, first), round%2*19, 100)...)
			group.Go(func() {
				err := stores[i%len(stores)].Append(s.ctx, chain, head, lines)
				var conflict *fleet.ConflictError
				switch {
				case err == nil:
					winner <- lines
				case !errors.As(err, &conflict):
					t.Errorf("appender %d: %v, want a ConflictError", i, err)
				case conflict.Head == head:
					t.Errorf("appender %d: the conflict names the expected head", i)
				}
			})
		}
		group.Wait()
		if len(winner) != 1 {
			t.Fatalf("round %d: %d appenders succeeded, want 1", round, len(winner))
		}
		lines := <-winner
		want = append(want, lines...)
		head = HeadOf(t, lines[len(lines)-1])
		s.wantLines(t, s.Store, chain, want)
	}
}

// continuesAfterUnknownResult cancels appends at any moment. A caller that reads the head can always continue.
func continuesAfterUnknownResult(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 300, 300)
	all := uint64(len(lines))
	for done := uint64(0); done < all; {
		ctx, cancel := context.WithCancel(s.ctx)
		started := make(chan struct{})
		go func() { close(started); cancel() }()
		if done%2 == 0 {
			<-started
		}
		batch := lines[done:min(done+7, all)]
		err := s.Store.Append(ctx, chain, before(t, lines, done), batch)
		cancel()
		head := s.head(t, s.Store, chain)
		if err == nil && head.Seq != done+uint64(len(batch)) {
			t.Fatalf("Append of entries %d to %d succeeded, and the head is %d", done+1, done+uint64(len(batch)), head.Seq)
		}
		if head.Seq < done {
			t.Fatalf("the head went back from %d to %d", done, head.Seq)
		}
		if head.Seq == done { // without this a store that notices the cancellation early would never finish
			err := s.Store.Append(s.ctx, chain, head, batch[:1])
			var late *fleet.ConflictError
			if err != nil && !errors.As(err, &late) {
				t.Fatal(err)
			}
			head = s.head(t, s.Store, chain)
		}
		done = head.Seq
	}
	s.wantLines(t, s.Store, chain, lines)
}

// before returns the head of a chain of which done lines are stored.
func before(t *testing.T, lines [][]byte, done uint64) fleet.Head {
	t.Helper()
	if done == 0 {
		return fleet.Head{}
	}
	return HeadOf(t, lines[done-1])
}

func cancelled(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 1000, 2000)
	head := s.append(t, chain, fleet.Head{}, lines)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	seen := 0
	var last error
	for _, err := range s.Store.Lines(ctx, chain, 0) {
		if last = err; err != nil {
			break
		}
		seen++
		cancel()
	}
	if last == nil && seen < len(lines) {
		t.Errorf("Lines ended without an error after %d of %d lines", seen, len(lines))
	}
	if err := s.Store.Append(ctx, chain, head, MakeLines(chain, head, 1, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with a cancelled context: %v", err)
	}
	if _, err := s.Store.Head(ctx, chain); !errors.Is(err, context.Canceled) {
		t.Errorf("Head with a cancelled context: %v", err)
	}
	if _, err := s.Store.Chains(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Chains with a cancelled context: %v", err)
	}
	if err := s.Store.Remove(ctx, chain, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("Remove with a cancelled context: %v", err)
	}
	s.wantLines(t, s.Store, chain, lines) // the store still works, and nothing was changed
}
