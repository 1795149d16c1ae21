package failures_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

const fast = 10 * time.Millisecond

// eventually waits until a store has as many failures as the ledger, and compares the two.
func eventually(t *testing.T, s *failures.Store, dir string, random *rand.Rand) {
	t.Helper()
	want := uint64(len(scan(t, dir)))
	wait.Until(t, "all failures in the list", func() bool {
		page, err := s.List(context.Background(), failures.Filter{}, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		return page.Total == want
	})
	compare(t, s, dir, random, 5)
}

func TestSubscribersGetEachNewFailureOnce(t *testing.T) {
	dir := t.TempDir()
	options := ledger.Options{MaxSegmentBytes: 8 << 10, Compress: true} // rotates while it is followed
	l := openLedger(t, dir, options)
	record := func(l *ledger.Ledger, i int) {
		err := candor.New(candor.CodeTimeout, fmt.Sprint("number ", i), candor.WithTool([]string{"even", "odd"}[i%2]))
		f := candor.Failure{Error: err, Verdict: "lost", Sent: err.AppendJSON(nil, candor.JSONOptions{})}
		if err := l.RecordFailure(context.Background(), f); err != nil {
			t.Fatal(err)
		}
	}
	record(l, 1000) // before the subscription
	s := open(t, dir, failures.Options{Poll: fast})
	all, odd := s.Subscribe(failures.Filter{}), s.Subscribe(failures.Filter{Tool: "odd"})
	defer all.Close()
	defer odd.Close()
	other := openLedger(t, dir, ledger.Options{}) // another process
	const n = 200
	for i := range n {
		if i%10 == 0 {
			record(other, i)
		} else {
			record(l, i)
		}
	}
	got := map[string]int{}
	for range n {
		select {
		case f := <-all.C:
			got[f.Message]++
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d failures arrived", len(got), n)
		}
	}
	for i := range n {
		if got[fmt.Sprint("number ", i)] != 1 {
			t.Errorf("number %d arrived %d times", i, got[fmt.Sprint("number ", i)])
		}
	}
	wait.Until(t, "the failures that the filter selects", func() bool { return len(odd.C) == n/2 }) // one subscriber is served after the other
}

func TestSubscriberThatDoesNotReadIsDropped(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir, ledger.Options{})
	s := open(t, dir, failures.Options{Poll: fast})
	slow, reading := s.Subscribe(failures.Filter{}), s.Subscribe(failures.Filter{})
	var got atomic.Int64
	go func() {
		for range reading.C {
			got.Add(1)
		}
	}()
	appendRandom(t, l, rand.New(rand.NewPCG(3, 3)), 2000) // all at once
	want := int64(len(scan(t, dir)))
	wait.Until(t, "all failures at the subscriber that reads", func() bool { return got.Load() == want })
	for range slow.C { // it ends, because the channel is closed
	}
	slow.Close() // as the deferred call of a handler
}

func TestStoreFollowsRotationCompressionAndPruning(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(4, 4))
	s := open(t, dir, failures.Options{Poll: fast})
	l := openLedger(t, dir, ledger.Options{MaxSegmentBytes: 10 << 10, Compress: true})
	for range 3 {
		appendRandom(t, l, random, 60)
		eventually(t, s, dir, random)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	before, _ := filepath.Glob(dir + "/*/audit-log.0*")
	if _, err := ledger.Prune(context.Background(), dir, ledger.Options{RetainBytes: 6 << 10}); err != nil {
		t.Fatal(err)
	}
	if after, _ := filepath.Glob(dir + "/*/audit-log.0*"); len(after) >= len(before) {
		t.Fatalf("%d segments before pruning, %d after", len(before), len(after))
	}
	eventually(t, s, dir, random)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the end of a ledger that was removed", func() bool { return s.Progress().Failures == 0 })
	l = openLedger(t, dir, ledger.Options{})
	appendRandom(t, l, random, 20)
	eventually(t, s, dir, random)
}

// killed copies a ledger that is being written, as a killed process leaves it, with half a line at its end.
func killed(t *testing.T, random *rand.Rand, options ledger.Options) string {
	t.Helper()
	live, dead := t.TempDir(), filepath.Join(t.TempDir(), "ledger")
	l := openLedger(t, live, options)
	appendRandom(t, l, random, 80)
	if err := os.CopyFS(dead, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(dead + "/*/audit-log.jsonl")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	data, err := os.ReadFile(names[0])
	if err == nil {
		err = os.WriteFile(names[0], data[:len(data)-20], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dead
}

func TestChainOfAKilledProcessIsReadUpToItsTornLine(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	dir := killed(t, random, ledger.Options{MaxSegmentBytes: 20 << 10})
	s := open(t, dir, failures.Options{Poll: fast})
	compare(t, s, dir, random, 5)
	l := openLedger(t, dir, ledger.Options{}) // recovers the chain
	appendRandom(t, l, random, 30)
	eventually(t, s, dir, random)
}

func TestMalformedLinesAreSkipped(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(6, 6))
	l := openLedger(t, dir, ledger.Options{MaxSegmentBytes: 10 << 10})
	for range 5 {
		appendRandom(t, l, random, 20)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(dir + "/*/audit-log.0*")
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch i {
		case 0: // a changed byte
			data[len(data)/2] ^= 1
		case 1: // not an entry, and an entry of another chain
			data = append([]byte("{}\n\x00\n"), data...)
		case 2: // half a line
			data = data[:len(data)-5]
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) < 3 {
		t.Fatalf("%d segments", len(names))
	}
	s := open(t, dir, failures.Options{})
	compare(t, s, dir, random, 5)
	if s.Progress().Skipped < 3 {
		t.Errorf("%d lines skipped, want at least 3", s.Progress().Skipped)
	}
}
