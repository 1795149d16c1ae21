package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/shipping"
)

// seqs reads the numbers of the entries that options select.
func seqs(t *testing.T, r *Reader, options ReadOptions) []uint64 {
	t.Helper()
	var all []uint64
	for line, err := range r.Entries(t.Context(), options) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line.Seq)
	}
	return all
}

func openTestReader(t *testing.T, dir string) *Reader {
	t.Helper()
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestReadFromSkipsEarlierSegments(t *testing.T) {
	t.Parallel()
	for _, compress := range []bool{false, true} {
		dir := t.TempDir()
		l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes, Compress: compress})
		chain := fillSegments(t, l, 12)
		closeTest(t, l)
		r := openTestReader(t, dir)
		all := seqs(t, r, ReadOptions{Chain: chain})
		var opened atomic.Int64
		for i, from := range all {
			if got := seqs(t, r, ReadOptions{Chain: chain, From: from}); !slices.Equal(got, all[i:]) {
				t.Fatalf("from %d: got %v", from, got)
			}
		}
		r.fsys = countedFiles{r.root.FS(), &opened}
		seqs(t, r, ReadOptions{Chain: chain})
		whole := opened.Swap(0)
		if seqs(t, r, ReadOptions{Chain: chain, From: all[len(all)-1] + 1}); opened.Load() > whole/2 {
			t.Errorf("files were opened %d times to read none, and %d times to read all", opened.Load(), whole)
		}
	}
}

func TestWakeLetsAFollowerReadAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wake := make(chan struct{}, 1)
	l := openTest(t, dir, Options{Shipping: shipping.Hooks{OnDurable: func(string, uint64, int64) {
		select {
		case wake <- struct{}{}:
		default:
		}
	}}})
	first := appendN(t, l, 1)
	r := openTestReader(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next := first.Seq
	for line, err := range r.Entries(ctx, ReadOptions{Chain: first.Chain, From: first.Seq, Follow: true, Poll: time.Hour, Wake: wake}) {
		if err != nil || line.Seq != next {
			t.Fatalf("read %d, %v, want %d", line.Seq, err, next)
		}
		if next++; next > first.Seq+3 {
			break
		}
		appendN(t, l, 1)
	}
	if next != first.Seq+4 {
		t.Errorf("the reader stopped before %d", next)
	}
}

func TestOnDurableReportsEachWrite(t *testing.T) {
	t.Parallel()
	type end struct {
		chain string
		seq   uint64
	}
	var last atomic.Pointer[end]
	var written atomic.Int64
	l := openTest(t, t.TempDir(), Options{Shipping: shipping.Hooks{OnDurable: func(chain string, seq uint64, n int64) {
		last.Store(&end{chain, seq})
		written.Add(n)
	}}})
	if at := last.Load(); at == nil || at.seq != 1 {
		t.Fatalf("after opening: %+v", at)
	}
	for range 300 {
		if r, at := appendN(t, l, 1), last.Load(); at.chain != r.Chain || at.seq < r.Seq {
			t.Fatalf("entry %d was acknowledged, and %+v reported", r.Seq, at)
		}
	}
	before := last.Load().seq
	closeTest(t, l)
	if at := last.Load(); at.seq != before+1 {
		t.Errorf("the closing entry was not reported: %d after %d", at.seq, before)
	}
	if uint64(written.Load()) != l.Stats().Bytes {
		t.Errorf("%d bytes were reported, and %d written", written.Load(), l.Stats().Bytes)
	}
}

func TestAdmitRefusesEntriesWhileItFails(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	l := openTest(t, t.TempDir(), Options{Shipping: shipping.Hooks{Admit: func() error {
		if full.Load() {
			return errors.New("too many entries wait")
		}
		return nil
	}}})
	appendN(t, l, 1)
	full.Store(true)
	_, err := l.Append(t.Context(), Entry{Kind: KindSuccess})
	wantFault(t, err, candor.CodeLedgerFailed)
	if cause := errors.Unwrap(err); cause == nil || !strings.Contains(cause.Error(), "too many") {
		t.Errorf("the cause is %v", cause)
	}
	full.Store(false)
	appendN(t, l, 1)
	full.Store(true)
	closeTest(t, l) // the ledger's own entries are not refused
}

func TestConfirmDecidesWhetherAnEntryIsAcknowledged(t *testing.T) {
	t.Parallel()
	var seen []uint64
	confirm := func(_ context.Context, _ string, seq uint64) error {
		seen = append(seen, seq)
		return errors.New("the store is away")
	}
	l := openTest(t, t.TempDir(), Options{Shipping: shipping.Hooks{Confirm: confirm}})
	_, err := l.Append(t.Context(), Entry{Kind: KindSuccess})
	wantFault(t, err, candor.CodeLedgerFailed)
	_, err = l.Reserve(t.Context(), Entry{})
	wantFault(t, err, candor.CodeLedgerFailed)
	if !slices.Equal(seen, []uint64{2, 3}) || l.Stats().Failed != 2 {
		t.Errorf("confirmed %v, counts %+v", seen, l.Stats())
	}
}

func TestRetentionWaitsForShipping(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
	chain := fillSegments(t, l, 4)
	r := openTestReader(t, dir)
	if err := os.WriteFile(filepath.Join(dir, format.ShippingFile), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	line, err := segment.FirstLine(r.fsys, closedSegments(t, r, chain)[2])
	if err != nil {
		t.Fatal(err)
	}
	first, err := seqOf(line)
	if err != nil {
		t.Fatal(err)
	}
	ship := func(seq uint64) {
		if err := os.WriteFile(filepath.Join(dir, chain, format.ShippedFile), fmt.Appendf(nil, `{"seq":%d}`, seq), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	prunable := func() int {
		p, err := Prunable(dir, Options{RetainBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		return len(p.Removed)
	}
	if n := prunable(); n != 0 {
		t.Errorf("%d segments of a chain that was never shipped are removed", n)
	}
	ship(first - 2)
	if n := prunable(); n != 1 {
		t.Errorf("%d segments may be removed, want 1", n)
	}
	ship(first - 1)
	if p, err := Prune(t.Context(), dir, Options{RetainBytes: 1}); err != nil || len(p.Removed) != 2 {
		t.Errorf("pruned %+v, %v, want 2 segments", p, err)
	}
	closeTest(t, l)
	seq, ended, err := r.Durable(chain)
	if err != nil || !ended {
		t.Fatal(seq, ended, err)
	}
	ship(seq)
	if n := prunable(); n != 3 {
		t.Errorf("%d segments of a shipped chain may be removed, want 3", n)
	}
}

func TestRetentionIgnoresWhatAnotherStoreHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
	chain := fillSegments(t, l, 2)
	closeTest(t, l)
	for mark, want := range map[string]int{`{"id":"1"}`: 3, `{"id":"2"}`: 0, `{}`: 0, `{`: 0} {
		if err := os.WriteFile(filepath.Join(dir, format.ShippingFile), []byte(mark), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, chain, format.ShippedFile), []byte(`{"seq":9999,"id":"1"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := Prunable(dir, Options{RetainBytes: 1}); err != nil || len(p.Removed) != want {
			t.Errorf("%s: %d segments may be removed, want %d (%v)", mark, len(p.Removed), want, err)
		}
	}
}

func TestRetentionKeepsTheTailOfAnAbandonedChain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain := crash(t, dir, Options{}, func(l *Ledger) { appendN(t, l, 3) })
	if err := os.WriteFile(filepath.Join(dir, format.ShippingFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, chain, format.ShippedFile), []byte(`{"seq":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := Prunable(dir, Options{RetainBytes: 1}); err != nil || len(p.Removed) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestDurableFollowsCheckpoints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{})
	last := appendN(t, l, 3)
	r := openTestReader(t, dir)
	l.writer.signNow()
	if seq, ended, err := r.Durable(last.Chain); seq < last.Seq || ended || err != nil {
		t.Errorf("after a checkpoint: %d, %v, %v", seq, ended, err)
	}
	for _, name := range []string{"../x", "candor-20261115T040506789Z-0123abcd"} {
		if _, _, err := r.Durable(name); err == nil {
			t.Errorf("Durable(%q) succeeded", name)
		}
	}
}

func closedSegments(t *testing.T, r *Reader, chain string) []segment.File {
	t.Helper()
	list, err := segment.List(r.fsys, chain)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAChainThatCannotBeginLeavesNothing removes also what another process that ships the folder has put there.
func TestAChainThatCannotBeginLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := newFaulty(t, dir)
	disk.set(func(act, name string) error {
		if act != "sync" || name != format.ActiveSegment {
			return nil
		}
		for _, file := range []string{format.ShippedFile, format.ShippingLock} {
			if err := os.WriteFile(filepath.Join(dir, chainsOf(t, dir)[0], file), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
		return errors.New("failed")
	})
	_, err := Open("", Options{}.WithStorage(disk, nil))
	wantFault(t, err, candor.CodeLedgerFailed)
	left, err := filepath.Glob(filepath.Join(dir, "candor-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
