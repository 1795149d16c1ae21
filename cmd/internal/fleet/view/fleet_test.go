package view_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

// writeChain writes a chain of n entries with the real ledger.
func writeChain(t testing.TB, dir string, n int, o ledger.Options) {
	t.Helper()
	l, err := ledger.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	appendEntries(t, l, n)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendEntries(t testing.TB, l *ledger.Ledger, n int) {
	t.Helper()
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := w; i < n; i += 8 {
				kind := ledger.KindFailure
				if i%3 == 0 {
					kind = ledger.KindSuccess
				}
				if _, err := l.Append(context.Background(), ledger.Entry{Kind: kind, Tool: fmt.Sprintf("tool-%d", i%5)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
}

// ship appends to the store what it does not have yet, as a node does.
func ship(t testing.TB, store fleet.Store, node, dir string) {
	t.Helper()
	ctx := context.Background()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	chains, err := r.Chains()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(chains, func(a, b string) int { return strings.Compare(a[len(a)-28:], b[len(b)-28:]) })
	for _, name := range chains {
		chain := fleet.Chain{Node: node, Name: name}
		head, err := store.Head(ctx, chain)
		if err != nil {
			t.Fatal(err)
		}
		var lines [][]byte
		for line, err := range r.Entries(ctx, ledger.ReadOptions{Chain: name}) {
			if err != nil {
				t.Fatal(err)
			}
			if line.Seq > head.Seq {
				lines = append(lines, slices.Clone(line.Raw()))
			}
		}
		if len(lines) > 0 {
			if err := store.Append(ctx, chain, head, lines); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// crash copies a ledger while it is open: the copy looks like the folder of a writer that was killed.
func crash(t testing.TB, dir string, n int) string {
	t.Helper()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	appendEntries(t, l, n)
	left := t.TempDir()
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return left
}

// writeFleet fills a store with eight nodes that have been through everything an honest node can go through.
func writeFleet(t testing.TB, store *memory) {
	t.Helper()
	for i := range 8 {
		node, dir := fmt.Sprintf("node-%d", i), t.TempDir()
		writeChain(t, dir, 40+10*i, ledger.Options{})
		switch i {
		case 1: // segments, and retention on the node after it has shipped
			writeChain(t, dir, 400, ledger.Options{MaxSegmentBytes: 8 << 10})
			ship(t, store, node, dir)
			prune(t, dir)
		case 2: // a rotated key, twice
			for range 2 {
				rotate(t, dir)
				writeChain(t, dir, 30, ledger.Options{})
			}
		case 3: // a crash, and recovery by the next process
			dir = crash(t, dir, 60)
		case 4: // retention before anything was shipped
			writeChain(t, dir, 300, ledger.Options{MaxSegmentBytes: 8 << 10})
			prune(t, dir)
		case 5: // two writers at the same time
			twoWriters(t, dir)
		case 6: // the store follows the node's retention
			writeChain(t, dir, 300, ledger.Options{MaxSegmentBytes: 8 << 10})
			ship(t, store, node, dir)
			prune(t, dir)
			ship(t, store, node, dir)
			follow(t, store, node)
		case 7: // a disk that fails for a while, and a node that continues without recording
			loseLog(t, dir)
		}
		writeChain(t, dir, 50, ledger.Options{})
		ship(t, store, node, dir)
	}
}

func rotate(t testing.TB, dir string) {
	t.Helper()
	if _, err := ledger.RotateKey(dir); err != nil {
		t.Fatal(err)
	}
}

func prune(t testing.TB, dir string) {
	t.Helper()
	done, err := ledger.Prune(context.Background(), dir, ledger.Options{RetainBytes: 40 << 10})
	if err != nil || len(done.Removed) == 0 {
		t.Fatalf("nothing was pruned: %v", err)
	}
}

func twoWriters(t testing.TB, dir string) {
	t.Helper()
	a, err := ledger.Open(dir, ledger.Options{Instance: "a"})
	if err != nil {
		t.Fatal(err)
	}
	appendEntries(t, a, 300)
	b, err := ledger.Open(dir, ledger.Options{Instance: "b"})
	if err != nil {
		t.Fatal(err)
	}
	appendEntries(t, b, 20)
	appendEntries(t, a, 20)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// loseLog takes the log away while it is written, and gives it back. The ledger gives the chain up and continues in another one.
func loseLog(t testing.TB, dir string) {
	t.Helper()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	appendEntries(t, l, 30)
	at, err := l.Append(context.Background(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"})
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, at.Chain, "audit-log.jsonl")
	if err := os.Rename(log, log+".away"); err != nil {
		t.Fatal(err)
	}
	if lost, err := l.Append(context.Background(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"}); err == nil {
		t.Fatalf("recorded without a log: %+v", lost)
	}
	if err := os.Rename(log+".away", log); err != nil {
		t.Fatal(err)
	}
	appendEntries(t, l, 10)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// follow removes from the store what the node has recorded as pruned.
func follow(t testing.TB, store fleet.Store, node string) {
	t.Helper()
	report := mustVerify(t, store, view.Options{Nodes: []string{node}})
	if len(report.Nodes[0].Pruned) == 0 {
		t.Fatal("the node has recorded no retention")
	}
	for _, p := range report.Nodes[0].Pruned {
		if err := store.Remove(context.Background(), fleet.Chain{Node: node, Name: p.Chain}, p.Seq); err != nil {
			t.Fatal(err)
		}
	}
}

// mustVerify verifies a store in which nothing may be wrong.
func mustVerify(t testing.TB, store fleet.Store, o view.Options) view.Report {
	t.Helper()
	report, err := view.Verify(context.Background(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Damage {
		t.Errorf("false alarm: %s", d)
	}
	return report
}

func stateOf(t testing.TB, report view.Report) *view.State {
	t.Helper()
	state, err := view.StateOf(&report, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// honest is a fleet that is written once. Tests change copies of it.
var honest struct {
	sync.Once
	lines map[fleet.Chain][][]byte
	state *view.State
}

// honestFleet returns a copy of the honest fleet and its state.
func honestFleet(t testing.TB) (*memory, *view.State) {
	t.Helper()
	honest.Do(func() {
		store := newMemory()
		writeFleet(t, store)
		honest.state = stateOf(t, mustVerify(t, store, view.Options{}))
		honest.lines = map[fleet.Chain][][]byte{}
		for chain := range honest.state.Heads {
			for stored := range store.Lines(context.Background(), chain, 0) {
				honest.lines[chain] = append(honest.lines[chain], slices.Clone(stored.Line))
			}
		}
	})
	store := newMemory()
	for chain, lines := range honest.lines {
		store.Edit(chain, func([][]byte) [][]byte { return slices.Clone(lines) })
	}
	return store, honest.state
}

// rehash gives a changed line a hash that fits it.
func rehash(line []byte) []byte {
	at := bytes.LastIndex(line, []byte(`,"hash":"`))
	return fmt.Appendf(nil, `%s,"hash":"%x"}`, line[:at], sha256.Sum256(line[:at]))
}

// relink makes every line follow the one before it.
func relink(lines [][]byte) [][]byte {
	for i := 1; i < len(lines); i++ {
		before, err := ledger.ParseLine(lines[i-1])
		if err != nil {
			continue
		}
		at := bytes.Index(lines[i], []byte(`,"prev":"`)) + len(`,"prev":"`)
		lines[i] = rehash(slices.Concat(lines[i][:at], fmt.Appendf(nil, "%x", before.Hash), lines[i][at+64:]))
	}
	return lines
}
