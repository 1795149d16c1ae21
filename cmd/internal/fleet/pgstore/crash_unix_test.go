//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// writer ships lines of one chain like a node: after an error it reads the head and continues there.
type writer struct {
	store fleet.Store
	chain fleet.Chain
	lines [][]byte
	acked atomic.Uint64 // number of the last line that was acknowledged
}

// run ships all lines in batches, and tries again until the context ends.
func (w *writer) run(ctx context.Context, batch uint64) error {
	all := uint64(len(w.lines))
	for w.acked.Load() < all {
		head, err := w.store.Head(ctx, w.chain)
		if err == nil {
			err = w.check(head)
			if err != nil {
				return err
			}
			err = w.ship(ctx, head, batch)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // the server is away; a node waits longer
		}
	}
	return nil
}

// check compares a head that the store returned with the lines.
func (w *writer) check(head fleet.Head) error {
	if head.Seq < w.acked.Load() {
		return fmt.Errorf("%s: entry %d was acknowledged, and the head is entry %d", w.chain, w.acked.Load(), head.Seq)
	}
	return nil
}

// ship appends until an error, except a conflict, which says that an append with a lost answer has taken effect.
func (w *writer) ship(ctx context.Context, head fleet.Head, batch uint64) error {
	all := uint64(len(w.lines))
	for done := head.Seq; done < all; {
		next := min(done+batch, all)
		err := w.store.Append(ctx, w.chain, head, w.lines[done:next])
		var conflict *fleet.ConflictError
		if errors.As(err, &conflict) {
			return nil
		}
		if err != nil {
			return err
		}
		parsed, err := fleet.HeadOf(w.chain, w.lines[next-1])
		if err != nil {
			return err
		}
		head, done = parsed, next
		w.acked.Store(done)
	}
	w.acked.Store(all)
	return nil
}

// startWriters runs a writer per node, each with connections of its own, and returns them and a function that waits for them.
func startWriters(ctx context.Context, t *testing.T, n, lines int, openNode func(node string) fleet.Store) ([]*writer, func()) {
	t.Helper()
	writers := make([]*writer, n)
	var group sync.WaitGroup
	for i := range writers {
		chain := fleet.Chain{Node: fmt.Sprintf("node-%d", i%(n/2)), Name: fmt.Sprintf("chain-%d", i)}
		w := &writer{store: openNode(chain.Node), chain: chain, lines: storetest.MakeLines(chain, fleet.Head{}, lines, 200)}
		writers[i] = w
		group.Go(func() {
			if err := w.run(ctx, uint64(1+i%9)); err != nil {
				t.Error(err)
			}
		})
	}
	return writers, group.Wait
}

// acknowledged returns the number of all lines that were acknowledged.
func acknowledged(writers []*writer) (sum uint64) {
	for _, w := range writers {
		sum += w.acked.Load()
	}
	return sum
}

// awaitProgress waits until the writers have got on.
func awaitProgress(ctx context.Context, t *testing.T, writers []*writer, more uint64) {
	t.Helper()
	all := uint64(0)
	for _, w := range writers {
		all += uint64(len(w.lines))
	}
	target := min(acknowledged(writers)+more, all)
	wait.Until(t, "progress of the writers", func() bool { return acknowledged(writers) >= target || t.Failed() || ctx.Err() != nil })
}

// TestManyWritersSurviveCrashes has 32 writers with connections of their own while sessions are ended and the server crashes. Afterwards
// every chain has all its lines, once, in order.
func TestManyWritersSurviveCrashes(t *testing.T) {
	const rounds = 3
	server, admin := sharedStore(t)
	for i := range 16 {
		_ = addNode(t, server, admin, fmt.Sprintf("node-%d", i)).Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	writers, wait := startWriters(ctx, t, 32, 60*rounds, func(node string) fleet.Store { return open(t, server, "candor_node_"+node, "candor") })
	for round := range rounds {
		awaitProgress(ctx, t, writers, 200)
		if round%3 == 2 {
			server.Crash()
			server.Run(t)
		} else {
			server.SQL(t, "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'candor_node_%'")
		}
	}
	wait()
	for _, w := range writers {
		wantChain(t, admin, w.chain, w.lines)
	}
	if chains, err := admin.Chains(t.Context()); err != nil || len(chains) != len(writers) {
		t.Errorf("%d chains, %v, want %d", len(chains), err, len(writers))
	}
}
