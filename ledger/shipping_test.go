package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/segment"
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
	l := openTest(t, dir, Options{OnDurable: func(string, uint64, int64) {
		select {
		case wake <- struct{}{}:
		default:
		}
	}})
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
	l := openTest(t, t.TempDir(), Options{OnDurable: func(chain string, seq uint64, n int64) {
		last.Store(&end{chain, seq})
		written.Add(n)
	}})
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

func TestOnDurableIsSilentAboutAChainThatCannotBegin(t *testing.T) {
	t.Parallel()
	disk := newFaulty(t, t.TempDir())
	disk.set(func(act, name string) error {
		if act == "sync" && name == format.ActiveSegment {
			return errors.New("failed")
		}
		return nil
	})
	o := Options{OnDurable: func(chain string, seq uint64, _ int64) { t.Errorf("%s %d was reported", chain, seq) }}
	if _, err := Open("", o.WithStorage(disk, nil)); err == nil {
		t.Fatal("the ledger was opened")
	}
}

func TestNoSyncSyncsOnlyBeforeCheckpoints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := newFaulty(t, dir)
	l := openTest(t, "", Options{NoSync: true, Clock: func() time.Time { return time.Unix(1e9, 0) }}.WithStorage(disk, nil))
	begun := disk.count("sync " + format.ActiveSegment)
	appendN(t, l, 100)
	if got := disk.count("sync " + format.ActiveSegment); got > begun+2 { // two, if the test takes a second
		t.Errorf("100 entries were synced %d times", got-begun)
	}
	closeTest(t, l)
	disk.mu.Lock()
	defer disk.mu.Unlock()
	var unsynced bool
	for _, act := range disk.acts {
		switch act {
		case "write " + format.ActiveSegment:
			unsynced = true
		case "sync " + format.ActiveSegment:
			unsynced = false
		case "write " + format.CheckpointsFile, "write " + format.EndFile + ".new":
			if unsynced {
				t.Fatalf("%s before the entries were synced", act)
			}
		}
	}
	if unsynced {
		t.Error("the closed chain is not synced")
	}
}

func TestNoSyncGivesAChainUpIfItCannotBeSynced(t *testing.T) {
	t.Parallel()
	disk := newFaulty(t, t.TempDir())
	l := openTest(t, "", Options{NoSync: true}.WithStorage(disk, nil))
	first := appendN(t, l, 1)
	var once atomic.Bool
	disk.set(func(act, name string) error {
		if act == "sync" && name == format.ActiveSegment && once.CompareAndSwap(false, true) {
			return errors.New("failed")
		}
		return nil
	})
	l.writer.signNow()
	if next := appendN(t, l, 1); next.Chain == first.Chain {
		t.Error("the chain is still written")
	}
}

func TestAdmitRefusesEntriesWhileItFails(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	l := openTest(t, t.TempDir(), Options{Admit: func() error {
		if full.Load() {
			return errors.New("too many entries wait")
		}
		return nil
	}})
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
	confirm := func(_ context.Context, r Receipt) error {
		seen = append(seen, r.Seq)
		return errors.New("the store is away")
	}
	l := openTest(t, t.TempDir(), Options{Confirm: confirm})
	_, err := l.Append(t.Context(), Entry{Kind: KindSuccess})
	wantFault(t, err, candor.CodeLedgerFailed)
	_, err = l.Reserve(t.Context(), Entry{})
	wantFault(t, err, candor.CodeLedgerFailed)
	if !slices.Equal(seen, []uint64{2, 3}) || l.Stats().Failed != 2 {
		t.Errorf("confirmed %v, counts %+v", seen, l.Stats())
	}
	l = openTest(t, t.TempDir(), Options{Confirm: confirm, FailOpen: true})
	if r, err := l.Append(t.Context(), Entry{Kind: KindSuccess}); err != nil || r.Seq == 0 {
		t.Errorf("with FailOpen: %+v, %v", r, err)
	}
}

// linesFrom returns the lines of a file after the nth.
func linesFrom(whole []byte) func(string, uint64) iter.Seq2[[]byte, error] {
	return func(_ string, after uint64) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for i, line := range bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n")) {
				if uint64(i) >= after && !yield(line, nil) {
					return
				}
			}
		}
	}
}

func TestMissingLinesAreRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain := crash(t, dir, Options{}, func(l *Ledger) { appendN(t, l, 20) })
	path := filepath.Join(dir, chain, format.ActiveSegment)
	whole := fileOf(t, path)
	if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil { // ends in half a line
		t.Fatal(err)
	}
	failed := func(string, uint64) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) { yield(nil, errors.New("the store is away")) }
	}
	if _, err := Open(dir, Options{Missing: failed}); err == nil {
		t.Fatal("opened without the missing lines")
	}
	l := openTest(t, dir, Options{Missing: linesFrom(whole)})
	if got := fileOf(t, path); !bytes.Equal(got, whole) {
		t.Errorf("%d of %d bytes are there", len(got), len(whole))
	}
	r := openTestReader(t, dir)
	if seq, ended, err := r.Durable(chain); seq != 21 || !ended || err != nil {
		t.Errorf("the chain ends at %d, %v, %v", seq, ended, err)
	}
	own := *l.writing.Load()
	closeTest(t, l)
	if text := string(fileOf(t, dir, own, format.ActiveSegment)); !strings.Contains(text, `"restored":`) {
		t.Error("the restored entries are not recorded")
	}
}

func TestMissingLinesThatDoNotFitAreNotAppended(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func([]byte) []byte{
		"changed":         func(b []byte) []byte { return bytes.Replace(b, []byte(`"tool":"t"`), []byte(`"tool":"u"`), 1) },
		"left out":        func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] },
		"of another kind": func([]byte) []byte { return []byte("hello\n") },
		"too long":        func(b []byte) []byte { return append(bytes.Repeat([]byte("x"), format.MaxLine), b...) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			chain := crash(t, dir, Options{}, func(l *Ledger) { appendN(t, l, 5) })
			path := filepath.Join(dir, chain, format.ActiveSegment)
			whole := fileOf(t, path)
			lines := bytes.SplitAfter(whole, []byte("\n"))
			kept := bytes.Join(lines[:3], nil)
			if err := os.WriteFile(path, kept, 0o600); err != nil {
				t.Fatal(err)
			}
			forged := forge(bytes.Join(lines[3:], nil))
			openTest(t, dir, Options{Missing: func(c string, after uint64) iter.Seq2[[]byte, error] { return linesFrom(forged)(c, after-3) }})
			if got := fileOf(t, path); !bytes.Equal(got, kept) {
				t.Errorf("the chain was changed: %q", got)
			}
		})
	}
}

// TestMissingLinesBeginASegment restores a chain whose active segment is lost, and one in which a segment would begin in the middle.
func TestMissingLinesBeginASegment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain := crash(t, dir, Options{MaxSegmentBytes: minSegmentBytes}, func(l *Ledger) {
		fillSegments(t, l, 2)
		appendN(t, l, 3)
	})
	path := filepath.Join(dir, chain, format.ActiveSegment)
	active := fileOf(t, path)
	whole := slices.Concat(fileOf(t, dir, chain, format.ClosedSegment(1)), fileOf(t, dir, chain, format.ClosedSegment(2)), active)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	closeTest(t, openTest(t, dir, Options{Missing: linesFrom(whole)}))
	if got := fileOf(t, path); !bytes.Equal(got, active) {
		t.Errorf("%d of %d bytes were restored", len(got), len(active))
	}
	w := newWalk(chain)
	for i, line := range bytes.Split(whole, []byte("\n")) {
		if err := w.accept(line, i == 0); err != nil {
			if !errors.Is(err, errSegmentStart) {
				t.Errorf("line %d: %v", i, err)
			}
			return
		}
	}
	t.Error("a segment began in the middle of another")
}

// TestAChainThatWasNotSyncedIsRecoveredOnlyWithItsLines opens the folder of a ledger without syncs as others do after a power cut.
func TestAChainThatWasNotSyncedIsRecoveredOnlyWithItsLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain := crash(t, dir, Options{NoSync: true}, func(l *Ledger) { appendN(t, l, 20) })
	path := filepath.Join(dir, chain, format.ActiveSegment)
	whole := fileOf(t, path)
	torn := whole[:len(whole)/2]
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, Options{})
	wantFault(t, err, candor.CodeLedgerFailed)
	if err == nil || !strings.Contains(errors.Unwrap(err).Error(), ": start once with ack=quorum") {
		t.Errorf("no next step: %v", errors.Unwrap(err))
	}
	_, err = Prune(t.Context(), dir, Options{RetainBytes: 1})
	wantFault(t, err, candor.CodeLedgerFailed)
	if got := fileOf(t, path); !bytes.Equal(got, torn) {
		t.Error("the chain was changed")
	}
	if _, ended, err := openTestReader(t, dir).Durable(chain); ended || err != nil {
		t.Errorf("the chain was ended: %v", err)
	}
	closeTest(t, openTest(t, dir, Options{Missing: linesFrom(whole)}))
	if got := fileOf(t, path); !bytes.Equal(got, whole) {
		t.Errorf("%d of %d bytes are there", len(got), len(whole))
	}
	closeTest(t, openTest(t, dir, Options{})) // it has ended, and needs no lines any more
}

func TestAChainIsNotBegunIfItCannotBeMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := newFaulty(t, dir)
	disk.set(func(_, name string) error {
		if name == format.UnsyncedFile {
			return errors.New("failed")
		}
		return nil
	})
	_, err := Open("", Options{NoSync: true}.WithStorage(disk, nil))
	wantFault(t, err, candor.CodeLedgerFailed)
	if left := chainsOf(t, dir); len(left) > 0 {
		t.Errorf("%v was left", left)
	}
}

func TestAClosedChainThatWasNotSyncedNeedsNoLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{NoSync: true})
	appendN(t, l, 3)
	closeTest(t, l)
	if err := os.RemoveAll(filepath.Join(dir, *l.writing.Load(), format.EndFile)); err != nil {
		t.Fatal(err)
	}
	closeTest(t, openTest(t, dir, Options{}))
	for _, chain := range chainsOf(t, dir) {
		_, err := os.Stat(filepath.Join(dir, chain, format.UnsyncedFile))
		if there := err == nil; there != (chain == *l.writing.Load()) {
			t.Errorf("the chain %s is marked as not synced: %v", chain, there)
		}
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
	first, err := firstLine(r.fsys, closedSegments(t, r, chain)[2])
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
	for _, noSync := range []bool{false, true} {
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
		_, err := Open("", Options{NoSync: noSync}.WithStorage(disk, nil))
		wantFault(t, err, candor.CodeLedgerFailed)
		left, err := filepath.Glob(filepath.Join(dir, "candor-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}
