package copier_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/copier"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

func open(t *testing.T) (*filestore.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s := filestore.Open(dir)
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

func put(t *testing.T, s fleet.Store, chain fleet.Chain, lines [][]byte) {
	t.Helper()
	head, err := s.Head(t.Context(), chain)
	if err == nil {
		err = s.Append(t.Context(), chain, head, lines)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s fleet.Store, chain fleet.Chain) [][]byte {
	t.Helper()
	var lines [][]byte
	for stored, err := range s.Lines(t.Context(), chain, 0) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, bytes.Clone(stored.Line))
	}
	return lines
}

func same(t *testing.T, s fleet.Store, chain fleet.Chain, want [][]byte) {
	t.Helper()
	if got := read(t, s, chain); !bytes.Equal(bytes.Join(got, []byte("\n")), bytes.Join(want, []byte("\n"))) {
		t.Errorf("%s has %d lines, want %d equal ones", chain, len(got), len(want))
	}
}

func mustCopy(t *testing.T, source copier.Source, to fleet.Store, o copier.Options) copier.Result {
	t.Helper()
	result, err := copier.Copy(t.Context(), source, to, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func chainNamed(node, name string) fleet.Chain { return fleet.Chain{Node: node, Name: name} }

func TestCopiesALedgerFolder(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	storetest.WriteLedger(t, source, 100)
	storetest.WriteLedger(t, source, 10)
	from, err := copier.OpenLedger(source, "web-1")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // only read
	to, dir := open(t)
	result := mustCopy(t, from, to, copier.Options{})
	if result.Chains != 2 || result.Done != 2 || result.Copied < 110 || result.Entries != result.Copied || len(result.Problems) > 0 {
		t.Errorf("%+v", result)
	}
	if pending, err := from.Pending(t.Context()); err != nil || pending != 0 {
		t.Errorf("%d entries are pending, %v", pending, err)
	}
	report, err := verify.Dir(t.Context(), filepath.Join(dir, "web-1"), verify.Options{})
	if err != nil || !report.OK || report.Entries != result.Copied {
		t.Errorf("verify: %+v, %v", report, err)
	}
	again := mustCopy(t, from, to, copier.Options{})
	if again.Copied != 0 || again.Entries != result.Entries {
		t.Errorf("the second copy: %+v", again)
	}
}

func TestCopiesOneNodeUnderAnotherName(t *testing.T) {
	t.Parallel()
	from, _ := open(t)
	to, _ := open(t)
	for _, node := range []string{"a", "b"} {
		put(t, from, chainNamed(node, "c"), storetest.MakeLines(chainNamed(node, "c"), fleet.Head{}, 3, 10))
	}
	mustCopy(t, from, to, copier.Options{Node: "b", As: "z"})
	chains, err := to.Chains(t.Context())
	if err != nil || len(chains) != 1 || chains[0] != chainNamed("z", "c") {
		t.Errorf("%v, %v", chains, err)
	}
}

// interrupting is a store that ends a copy after some appends.
type interrupting struct {
	fleet.Store
	mu     sync.Mutex
	left   int
	cancel context.CancelFunc
}

func (s *interrupting) Append(ctx context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left < 0 {
		s.cancel()
	}
	return s.Store.Append(ctx, chain, after, lines)
}

func TestContinuesAnInterruptedCopy(t *testing.T) {
	t.Parallel()
	from, _ := open(t)
	to, _ := open(t)
	const chains, count = 5, 1200
	want := map[fleet.Chain][][]byte{}
	for i := range chains {
		chain := chainNamed(fmt.Sprintf("n%d", i), "c")
		want[chain] = storetest.MakeLines(chain, fleet.Head{}, count, 50)
		put(t, from, chain, want[chain])
	}
	copied, runs := uint64(0), 0
	for ; copied < chains*count && runs < 100; runs++ {
		ctx, cancel := context.WithCancel(t.Context())
		result, err := copier.Copy(ctx, from, &interrupting{Store: to, left: 2, cancel: cancel}, copier.Options{})
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		copied += result.Copied
	}
	if runs < 4 || copied != chains*count {
		t.Errorf("%d entries were copied in %d runs, want %d, each once", copied, runs, chains*count)
	}
	for chain, lines := range want {
		same(t, to, chain, lines)
	}
}

func TestRefusesChainsThatDiffer(t *testing.T) {
	t.Parallel()
	a, b := chainNamed("n", "a"), chainNamed("n", "b")
	lines := storetest.MakeLines(a, fleet.Head{}, 20, 10)
	good := storetest.MakeLines(b, fleet.Head{}, 20, 10)
	forked := append(lines[:6:6], storetest.MakeLines(a, storetest.HeadOf(t, lines[5]), 8, 11)...)
	for name, test := range map[string]struct {
		from, to [][]byte
		seq      uint64
		kind     copier.Kind
	}{
		"fork, destination shorter": {lines, forked, 7, copier.KindFork},
		"fork, destination longer":  {lines[:9], forked, 7, copier.KindFork},
		"fork after the end":        {lines[:8], forked[:7], 7, copier.KindFork},
		"source behind":             {lines[:9], lines, 10, copier.KindBehind},
		"gap":                       {lines[12:], lines[:5], 6, copier.KindGap},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, _ := open(t)
			to, _ := open(t)
			put(t, from, a, test.from)
			put(t, from, b, good)
			put(t, to, a, test.to)
			result := mustCopy(t, from, to, copier.Options{})
			if len(result.Problems) != 1 {
				t.Fatalf("problems: %v", result.Problems)
			}
			found := result.Problems[0]
			if found.Chain != a || found.Seq != test.seq || found.Kind != test.kind || !strings.Contains(found.Error(), fmt.Sprintf("n/a, entry %d", test.seq)) {
				t.Errorf("%v, want %s at entry %d", found, test.kind, test.seq)
			}
			same(t, to, a, test.to)
			same(t, to, b, good)
		})
	}
}

func TestStopsAtABadLine(t *testing.T) {
	t.Parallel()
	chain := chainNamed("n", "c")
	lines := storetest.MakeLines(chain, fleet.Head{}, 9, 30)
	for name, change := range map[string]func(string) string{
		"changed byte": func(s string) string { return strings.Replace(s, `"seq":5,`, `"seq":6,`, 1) },
		"removed line": func(s string) string { return strings.Replace(s, string(lines[4])+"\n", "", 1) },
		"not a line":   func(s string) string { return strings.Replace(s, string(lines[4]), "nothing", 1) },
		"repeated":     func(s string) string { return strings.Replace(s, string(lines[4]), string(lines[3]), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, dir := open(t)
			to, _ := open(t)
			put(t, from, chain, lines)
			file := filepath.Join(dir, "n/c/audit-log.jsonl")
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte(change(string(text))), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			result := mustCopy(t, from, to, copier.Options{})
			if len(result.Problems) != 1 || result.Problems[0].Seq != 5 || result.Problems[0].Kind != copier.KindBadLine {
				t.Errorf("problems: %v, want a bad line at entry 5", result.Problems)
			}
			for i, line := range read(t, to, chain) {
				if i > 3 || !bytes.Equal(line, lines[i]) {
					t.Errorf("line %d was copied: %q", i+1, line)
				}
			}
		})
	}
}

func TestStopsAtDamageOfALedgerFolder(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func([]string) []string{
		"changed": func(lines []string) []string {
			return append(append(lines[:2:2], strings.Replace(lines[2], "TIMEOUT", "TIMEOUX", 1)), lines[3:]...)
		},
		"cut off": func(lines []string) []string { return lines[:2] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			storetest.WriteLedger(t, dir, 5)
			bad, good := storetest.ReadLedger(t, dir, "n")
			storetest.WriteLedger(t, dir, 5)
			other, others := storetest.ReadLedger(t, dir, "n")
			log := filepath.Join(dir, bad.Name, "audit-log.jsonl")
			text, err := os.ReadFile(log)
			if err == nil {
				err = os.WriteFile(log, []byte(strings.Join(change(strings.SplitAfter(string(text), "\n")), "")), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			from, err := copier.OpenLedger(dir, "n")
			if err != nil {
				t.Fatal(err)
			}
			defer from.Close() //nolint:errcheck // only read
			to, _ := open(t)
			result := mustCopy(t, from, to, copier.Options{})
			if len(result.Problems) != 1 || result.Problems[0].Chain != bad || result.Problems[0].Seq != 3 || result.Problems[0].Kind != copier.KindBadLine {
				t.Errorf("problems: %v, want a bad line at entry 3 of %s", result.Problems, bad)
			}
			if got := read(t, to, bad); len(got) > 2 || len(got) > 0 && !bytes.Equal(got[0], good[0]) {
				t.Errorf("%d lines of the damaged chain were copied", len(got))
			}
			same(t, to, other, others)
		})
	}
}

// failing fails some calls with an error that passes, and lets another process append now and then.
type failing struct {
	fleet.Store
	mu    sync.Mutex
	calls int
	other func()
}

func (s *failing) Chains(ctx context.Context) ([]fleet.Chain, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; s.calls%2 == 0 {
		return nil, candor.New(candor.CodeUnavailable, "not now")
	}
	return s.Store.Chains(ctx)
}

func (s *failing) Append(ctx context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	s.mu.Lock()
	s.calls++
	n := s.calls
	s.mu.Unlock()
	switch n % 3 {
	case 1:
		return candor.New(candor.CodeUnavailable, "not now")
	case 2:
		s.other()
	}
	return s.Store.Append(ctx, chain, after, lines)
}

func TestCopiesThroughErrorsAndOtherWriters(t *testing.T) {
	t.Parallel()
	from, _ := open(t)
	to, _ := open(t)
	chain := chainNamed("n", "c")
	lines := storetest.MakeLines(chain, fleet.Head{}, 3000, 20)
	put(t, from, chain, lines)
	other := func() {
		head, err := to.Head(t.Context(), chain)
		if err == nil && head.Seq < 3000 {
			err = to.Append(t.Context(), chain, head, lines[head.Seq:head.Seq+1])
		}
		if err != nil {
			t.Error(err)
		}
	}
	result := mustCopy(t, from, &failing{Store: to, other: other}, copier.Options{})
	if len(result.Problems) > 0 {
		t.Errorf("problems: %v", result.Problems)
	}
	same(t, to, chain, lines)
}

// startMirror runs Mirror until the test ends. It returns its problems, and a function that waits until a number of entries is copied.
func startMirror(t *testing.T, source copier.Source, to fleet.Store) (problems <-chan error, await func(copied uint64)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	changed, found, ended := make(chan copier.Progress, 100000), make(chan error, 1000), make(chan error, 1)
	ready := make(chan struct{})
	o := copier.Options{Progress: func(p copier.Progress) { changed <- p }, Problem: func(err error) { found <- err }}
	go func() { ended <- copier.Mirror(ctx, source, to, o, func(copier.Result) { close(ready) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Mirror: %v", err)
		}
	})
	<-ready
	return found, func(copied uint64) {
		for p := range changed {
			if p.Copied == copied {
				return
			}
		}
	}
}

func TestMirrorStaysCurrent(t *testing.T) {
	t.Parallel()
	from, _ := open(t)
	to, _ := open(t)
	old, young := chainNamed("a", "c"), chainNamed("b", "c")
	lines, more := storetest.MakeLines(old, fleet.Head{}, 40, 10), storetest.MakeLines(young, fleet.Head{}, 30, 10)
	put(t, from, old, lines[:20])
	_, await := startMirror(t, &failing{Store: from}, to)
	same(t, to, old, lines[:20])
	put(t, from, old, lines[20:])
	put(t, from, young, more)
	await(70)
	same(t, to, old, lines)
	same(t, to, young, more)
}

func TestMirrorReportsAFork(t *testing.T) {
	t.Parallel()
	from, _ := open(t)
	to, _ := open(t)
	a, b := chainNamed("n", "a"), chainNamed("n", "b")
	lines := storetest.MakeLines(a, fleet.Head{}, 4, 10)
	put(t, from, a, lines[:2])
	put(t, from, b, storetest.MakeLines(b, fleet.Head{}, 1, 1))
	problems, await := startMirror(t, from, to)
	put(t, to, a, storetest.MakeLines(a, storetest.HeadOf(t, lines[1]), 1, 99)) // someone else writes to the copy
	put(t, from, a, lines[2:])
	var found *copier.Problem
	if err := <-problems; !errors.As(err, &found) || found.Chain != a || found.Seq != 3 {
		t.Errorf("%v, want a problem at entry 3 of n/a", err)
	}
	put(t, from, b, storetest.MakeLines(b, storetest.HeadOf(t, read(t, from, b)[0]), 1, 5))
	await(4)
}

func TestMirrorsALedgerThatIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	from, err := copier.OpenLedger(dir, "n")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // only read
	to, _ := open(t)
	_, await := startMirror(t, from, to)
	for range 600 {
		if _, err := l.Append(t.Context(), ledger.EntryOf(candor.New(candor.CodeTimeout, "late"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	chain, lines := storetest.ReadLedger(t, dir, "n")
	await(uint64(len(lines)))
	same(t, to, chain, lines)
}

func TestLedgerReturnsOnlyDurableEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storetest.WriteLedger(t, dir, 5)
	chain, lines := storetest.ReadLedger(t, dir, "n")
	if err := os.Remove(filepath.Join(dir, chain.Name, "end")); err != nil { // as if its writer had been killed
		t.Fatal(err)
	}
	from, err := copier.OpenLedger(dir, "n")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // only read
	to, _ := open(t)
	result := mustCopy(t, from, to, copier.Options{})
	pending, err := from.Pending(t.Context())
	if err != nil || pending != 0 || result.Copied != uint64(len(lines)-1) { // the last entry is a checkpoint
		t.Errorf("%d copied, %d pending, %v; the ledger has %d entries", result.Copied, pending, err, len(lines))
	}
	same(t, to, chain, lines[:result.Copied])
}
