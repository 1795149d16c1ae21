package failures_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

const fast = 10 * time.Millisecond

// eventually waits until a store has as many failures as the ledger, and compares the two.
func eventually(t *testing.T, s *failures.Store, dir string, random *rand.Rand) {
	t.Helper()
	want := uint64(len(scan(t, dir)))
	deadline := time.Now().Add(20 * time.Second)
	for {
		page, err := s.List(context.Background(), failures.Filter{}, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		if page.Total == want {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the store has %d failures, the ledger %d", page.Total, want)
		}
		time.Sleep(fast)
	}
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
	s := open(t, dir, failures.Options{Poll: fast, NoCache: true})
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
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of %d failures arrived", len(got), n)
		}
	}
	for i := range n {
		if got[fmt.Sprint("number ", i)] != 1 {
			t.Errorf("number %d arrived %d times", i, got[fmt.Sprint("number ", i)])
		}
	}
	for begin := time.Now(); len(odd.C) != n/2; time.Sleep(fast) { // they are delivered to one subscriber after the other
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("%d failures for a filter that selects %d", len(odd.C), n/2)
		}
	}
}

func TestFailureIsDeliveredWithinASecond(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir, ledger.Options{})
	s := open(t, dir, failures.Options{NoCache: true}) // as the commands open it
	sub := s.Subscribe(failures.Filter{})
	time.Sleep(50 * time.Millisecond)
	begin := time.Now()
	if err := l.RecordFailure(context.Background(), candor.Failure{Error: candor.New(candor.CodeTimeout, "late")}); err != nil {
		t.Fatal(err)
	}
	recorded := time.Since(begin)
	s.Wake()
	select {
	case f := <-sub.C:
		if took := time.Since(begin) - recorded; took > time.Second {
			t.Errorf("delivered after %v", took)
		}
		if _, _, err := s.Get(context.Background(), f.ID); err != nil {
			t.Errorf("the failure that was delivered: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("not delivered")
	}
}

func TestSubscriberThatDoesNotReadIsDropped(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir, ledger.Options{})
	s := open(t, dir, failures.Options{Poll: fast, NoCache: true})
	slow, reading := s.Subscribe(failures.Filter{}), s.Subscribe(failures.Filter{})
	var got atomic.Int64
	go func() {
		for range reading.C {
			got.Add(1)
		}
	}()
	appendRandom(t, l, rand.New(rand.NewPCG(3, 3)), 2000) // all at once
	want := int64(len(scan(t, dir)))
	for begin := time.Now(); got.Load() < want; time.Sleep(fast) {
		if reading.Dropped() || time.Since(begin) > 10*time.Second {
			t.Fatalf("the subscriber that reads got %d of %d failures; dropped: %v", got.Load(), want, reading.Dropped())
		}
	}
	if !slow.Dropped() || reading.Dropped() {
		t.Errorf("dropped: %v and %v, want only the one that does not read", slow.Dropped(), reading.Dropped())
	}
	for range slow.C { // it ends, because the channel is closed
	}
	slow.Close() // as the deferred call of a handler
}

func TestStoreFollowsRotationCompressionAndPruning(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(4, 4))
	s := open(t, dir, failures.Options{Poll: fast, NoCache: true})
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
	for begin := time.Now(); s.Progress().Failures > 0; time.Sleep(fast) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("%d failures of a ledger that was removed", s.Progress().Failures)
		}
	}
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
	s := open(t, dir, failures.Options{Poll: fast, NoCache: true})
	compare(t, s, dir, random, 5)
	l := openLedger(t, dir, ledger.Options{}) // recovers the chain
	appendRandom(t, l, random, 30)
	eventually(t, s, dir, random)
}

func TestFileThatWasCutOffIsReadAgainButNotDeliveredAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	dir := killed(t, random, ledger.Options{})
	s := open(t, dir, failures.Options{Poll: fast, NoCache: true})
	sub := s.Subscribe(failures.Filter{})
	names, err := filepath.Glob(dir + "/*/audit-log.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(names[0])
	if err == nil {
		err = os.Truncate(names[0], int64(bytes.LastIndexByte(data[:len(data)/2], '\n')+1))
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, s, dir, random)
	if n := len(sub.C); n > 0 {
		t.Errorf("%d failures were delivered although none was written", n)
	}
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
	s := open(t, dir, failures.Options{NoCache: true})
	compare(t, s, dir, random, 5)
	if s.Progress().Skipped < 3 {
		t.Errorf("%d lines skipped, want at least 3", s.Progress().Skipped)
	}
}

func TestNamesBeyondTheLimitAreFoundAndCountedAsOther(t *testing.T) {
	for _, spare := range []int{1000, 1} {
		t.Run(fmt.Sprint("spare=", spare), func(t *testing.T) {
			defer failures.SetMaxGroups(20, spare)()
			dir, random := t.TempDir(), rand.New(rand.NewPCG(7, 7))
			l := openLedger(t, dir, ledger.Options{})
			for i := range 100 {
				e := randomEntry(random)
				e.Tool = fmt.Sprint("tool-", i)
				if _, err := l.Append(context.Background(), e); err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, dir, failures.Options{NoCache: true})
			all := scan(t, dir)
			for range 60 {
				f := randomFilter(random, all)
				if got, want := walkPages(t, s, f, 10), slices.DeleteFunc(slices.Clone(all), func(x failures.Failure) bool { return !f.Selects(&x) }); !slices.Equal(got, want) {
					t.Fatalf("filter %v: %d failures, want %d", f.Values(), len(got), len(want))
				}
			}
			sum, err := s.Summarize(context.Background(), failures.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			total := uint64(0)
			for _, c := range sum.Tools {
				total += c.Count
			}
			want := stats(t, dir, "tool")
			if last := sum.Tools[len(sum.Tools)-1]; last.Name != failures.Other || total != want.Failures || sum.Suspected != want.Suspected {
				t.Errorf("last count %v, %d failures, %d suspected; want other, %d, %d", last, total, sum.Suspected, want.Failures, want.Suspected)
			}
		})
	}
}
