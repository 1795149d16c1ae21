package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

const appenders = 32

// oneOfManyAppenders lets many appenders continue the same head with different entries, on several connections.
func oneOfManyAppenders(t *testing.T, s *suite) { s.race(t, 1) }

func oneOfManyBatches(t *testing.T, s *suite) { s.race(t, 20) }

func (s *suite) race(t *testing.T, size int) {
	t.Helper()
	stores := []fleet.Store{s.Store, s.Again(t), s.Again(t), s.Again(t)}
	chain := fleet.Chain{Node: "n", Name: "c"}
	var want [][]byte
	head := fleet.Head{}
	for round := range 5 {
		winner := make(chan [][]byte, appenders)
		var group sync.WaitGroup
		for i := range appenders {
			first := NextLine(chain, head, fmt.Appendf(nil, "round %d, appender %d", round, i))
			lines := append([][]byte{first}, MakeLines(chain, HeadOf(t, first), size-1, 100)...)
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

// continuesAfterUnknownResult cancels appends at any moment. Whatever became of them, a caller that reads the head can continue.
func continuesAfterUnknownResult(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 600, 300)
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

// ship appends lines like a node does: it reads the head and continues there, also when another writer was faster.
func ship(ctx context.Context, store fleet.Store, chain fleet.Chain, lines [][]byte, batch uint64) error {
	all := uint64(len(lines))
	for {
		head, err := store.Head(ctx, chain)
		if err != nil {
			return err
		}
		done := head.Seq
		if done >= all {
			return nil
		}
		err = store.Append(ctx, chain, head, lines[done:min(done+batch, all)])
		var conflict *fleet.ConflictError
		if err != nil && !errors.As(err, &conflict) {
			return err
		}
	}
}

// twoWritersOneChain has processes that ship the same chain, as when an old one has not ended yet.
func twoWritersOneChain(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 300, 100)
	var group sync.WaitGroup
	for i := range uint64(4) {
		store := s.Again(t)
		group.Go(func() {
			if err := ship(s.ctx, store, chain, lines, 1+3*i); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	group.Wait()
	s.wantLines(t, s.Store, chain, lines)
}

func manyWriters(t *testing.T, s *suite) {
	stores := []fleet.Store{s.Store, s.Again(t), s.Again(t), s.Again(t)}
	var chains [appenders]fleet.Chain
	var lines [appenders][][]byte
	var group sync.WaitGroup
	for i := range appenders {
		chains[i] = fleet.Chain{Node: fmt.Sprintf("node-%d", i%8), Name: fmt.Sprintf("chain-%d", i)}
		lines[i] = MakeLines(chains[i], fleet.Head{}, 60, 100+i)
		group.Go(func() {
			if err := ship(s.ctx, stores[i%len(stores)], chains[i], lines[i], 5); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	group.Wait()
	for i, chain := range chains {
		s.wantLines(t, s.Store, chain, lines[i])
	}
	if list, err := s.Store.Chains(s.ctx); err != nil || len(list) != appenders {
		t.Errorf("%d chains, %v, want %d", len(list), err, appenders)
	}
}

func follows(t *testing.T, s *suite) {
	const nodes, count = 6, 50
	first := fleet.Chain{Node: "n-0", Name: "c"}
	old := MakeLines(first, fleet.Head{}, 5, 50)
	head := s.append(t, first, fleet.Head{}, old)

	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	followed := s.Again(t).Follow(ctx)
	writer := s.Again(t)
	want := map[fleet.Chain][][]byte{}
	var group sync.WaitGroup
	for i := range nodes {
		chain, after := fleet.Chain{Node: fmt.Sprintf("n-%d", i), Name: "c"}, fleet.Head{}
		if chain == first {
			after = head
		}
		lines := MakeLines(chain, after, count, 70)
		want[chain] = lines
		heads := make([]fleet.Head, count)
		for n, line := range lines {
			heads[n] = HeadOf(t, line)
		}
		group.Go(func() {
			for done := 0; done < count; done += 5 {
				if err := writer.Append(s.ctx, chain, after, lines[done:done+5]); err != nil {
					t.Errorf("Append to %s: %v", chain, err)
					cancel()
					return
				}
				after = heads[done+4]
			}
		})
	}
	got, total := map[fleet.Chain][][]byte{}, 0
	for stored, err := range followed {
		if err != nil {
			t.Fatalf("Follow: %v", err)
		}
		got[stored.Chain] = append(got[stored.Chain], bytes.Clone(stored.Line))
		if total++; total == nodes*count {
			break
		}
	}
	group.Wait()
	for chain, lines := range want {
		sameLines(t, chain, got[chain], lines)
	}
}

func followEndsWithContext(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	followed := s.Store.Follow(ctx)
	lines := MakeLines(chain, fleet.Head{}, 3, 10)
	s.append(t, chain, fleet.Head{}, lines)
	seen := 0
	for stored, err := range followed {
		if err != nil {
			t.Fatalf("Follow after the context has ended: %v", err)
		}
		if seen == len(lines) || !bytes.Equal(stored.Line, lines[seen]) {
			t.Fatalf("line %d is not the expected one: %q", seen+1, stored.Line)
		}
		if seen++; seen == len(lines) {
			cancel()
		}
	}
	if seen != len(lines) {
		t.Errorf("Follow returned %d lines, want %d", seen, len(lines))
	}
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

func closed(t *testing.T, s *suite) {
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := MakeLines(chain, fleet.Head{}, 2, 10)
	s.append(t, chain, fleet.Head{}, lines)
	store := s.Again(t)
	followed := store.Follow(s.ctx)
	var ended atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range followed {
			ended.Store(err != nil)
		}
	}()
	for range 2 {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	<-done // Follow ends, with an error because lines may be missed from now on
	if !ended.Load() {
		t.Error("Follow of a closed store ended without an error")
	}
	if err := store.Append(s.ctx, chain, HeadOf(t, lines[1]), MakeLines(chain, HeadOf(t, lines[1]), 1, 10)); err == nil {
		t.Error("Append to a closed store succeeded")
	}
	if _, err := store.Head(s.ctx, chain); err == nil {
		t.Error("Head of a closed store succeeded")
	}
	if _, err := store.Chains(s.ctx); err == nil {
		t.Error("Chains of a closed store succeeded")
	}
	for _, err := range store.Lines(s.ctx, chain, 0) {
		if err == nil {
			t.Error("Lines of a closed store returned a line")
		}
	}
	s.wantLines(t, s.Store, chain, lines)
}
