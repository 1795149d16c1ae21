package ledger

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/sweep"
)

// crash leaves a chain as a killed process does: not closed, and its lock released. The entries are on the disk.
func crash(t *testing.T, dir string, o Options, work func(*Ledger)) (chain string) {
	t.Helper()
	live := t.TempDir()
	if err := os.CopyFS(live, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	l, err := Open(live, o)
	if err != nil {
		t.Fatal(err)
	}
	work(l)
	chain = *l.writing.Load()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(live)); err != nil { // the state at this moment
		t.Fatal(err)
	}
	closeTest(t, l)
	return chain
}

// recoveredIn opens the folder and returns the entry of the new chain about the crashed one.
func recoveredIn(t *testing.T, dir, chain string) recoveredChain {
	t.Helper()
	l := openTest(t, dir, Options{})
	appendN(t, l, 1)
	closeTest(t, l)
	own := *l.writing.Load()
	for _, e := range ofKind(byHand(t, own, fileOf(t, dir, own, format.ActiveSegment)), KindRecovered) {
		if e.Data.Chain == chain {
			return e.Data.recoveredFields
		}
	}
	return recoveredChain{}
}

func TestK17TornTailIsCutKeptAndRecorded(t *testing.T) {
	t.Parallel()
	dir := sweep.MemoryDir(t)
	var last Receipt
	chain := crash(t, dir, Options{}, func(l *Ledger) { last = appendN(t, l, 5) })
	path := filepath.Join(dir, chain, format.ActiveSegment)
	whole := fileOf(t, path)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	kept := len(whole) - len(lines[len(lines)-2])
	step := sweep.Step(11, 37)
	for cut := len(whole) - 1; cut > kept; cut -= step {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := recoverChain(testStorage(t, dir), chain)
		if err != nil {
			t.Fatal(err)
		}
		if r.Size != last.Seq-1 || r.Cut != int64(cut-kept) || r.Damage != nil || r.closed {
			t.Fatalf("of %d bytes: %+v", cut, r)
		}
		if got := fileOf(t, path); !bytes.Equal(got, whole[:kept]) {
			t.Fatalf("of %d bytes %d were kept, want %d", cut, len(got), kept)
		}
		evidence := fileOf(t, dir, chain, format.EvidenceDir, r.Evidence)
		if !bytes.Equal(evidence, whole[kept:cut]) || r.Digest != "sha256:"+sumOf(evidence) {
			t.Fatalf("the evidence is not what was cut")
		}
	}
	if err := os.WriteFile(path, append(slices.Clone(whole), `{"v":1,"chain":`...), 0o600); err != nil {
		t.Fatal(err)
	}
	data := recoveredIn(t, dir, chain)
	if data.Size != last.Seq || data.Last != last.Hash || data.Cut == 0 || data.Evidence == "" {
		t.Errorf("recorded as %+v, the last receipt was %+v", data, last)
	}
	byHand(t, chain, fileOf(t, path))
	again := recoveredIn(t, dir, chain)
	if again.Chain != "" {
		t.Errorf("recovered twice: %+v", again)
	}
}

func TestVerifyAcceptsZeroedSectorsInLastBatch(t *testing.T) {
	dir := t.TempDir()
	chain := crash(t, dir, Options{}, func(l *Ledger) { appendN(t, l, 20) })
	path := filepath.Join(dir, chain, format.ActiveSegment)
	whole := fileOf(t, path)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	from := len(bytes.Join(lines[:10], nil))
	clear(whole[from+5 : from+300]) // a sector that was never written
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	data := recoveredIn(t, dir, chain)
	if data.Size != 10 || data.Cut != int64(len(whole)-from) || data.Damage != nil {
		t.Errorf("recorded as %+v", data)
	}
}

func TestR7DamageUnderACheckpointIsNotCut(t *testing.T) {
	t.Parallel()
	for name, spare := range map[string]bool{"known from the file": false, "known from an entry": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			chain := crash(t, dir, Options{}, func(l *Ledger) { appendN(t, l, 600) })
			path := filepath.Join(dir, chain, format.ActiveSegment)
			whole := fileOf(t, path)
			lines := bytes.SplitAfter(whole, []byte("\n"))
			whole[len(bytes.Join(lines[:10], nil))+60] ^= 1
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if spare { // the power cut lost the file of checkpoints
				if err := os.WriteFile(filepath.Join(dir, chain, format.CheckpointsFile), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			data := recoveredIn(t, dir, chain)
			if data.Damage == nil || data.Damage.Seq != 11 || data.Size != 10 || data.Cut != 0 {
				t.Errorf("recorded as %+v", data)
			}
			if !bytes.Equal(fileOf(t, path), whole) {
				t.Error("the damaged chain was changed")
			}
		})
	}
}

func TestUnfinishedEffectIsRecordedAfterCrash(t *testing.T) {
	dir := t.TempDir()
	chain := crash(t, dir, Options{MaxSegmentBytes: minSegmentBytes}, func(l *Ledger) {
		for _, tool := range []string{"finished", "unfinished"} {
			f, err := l.Reserve(context.Background(), Entry{Tool: tool, Ref: "ref-" + tool, Call: "call-" + tool})
			if err != nil {
				t.Fatal(err)
			}
			appendN(t, l, 30) // the next segment begins
			if tool == "finished" {
				if _, err := f.Complete(context.Background(), Entry{Outcome: OutcomeOK}); err != nil {
					t.Fatal(err)
				}
				if _, err := f.Complete(context.Background(), Entry{}); err == nil {
					t.Error("completed twice")
				}
			}
		}
		appendN(t, l, 30)
	})
	data := recoveredIn(t, dir, chain)
	if len(data.Open) != 1 || data.Open[0].Tool != "unfinished" || data.Open[0].Ref != "ref-unfinished" || data.Open[0].Call != "call-unfinished" {
		t.Errorf("open: %+v", data.Open)
	}
}

func TestCompleteIgnoresCancelledContext(t *testing.T) {
	l := openTest(t, t.TempDir(), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	f, err := l.Reserve(ctx, Entry{Tool: "t"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if r, err := f.Complete(ctx, Entry{Outcome: OutcomeOK, Data: candor.DetailsOf("x")}); err != nil || r.Seq == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestW18CrashAtSegmentStartIsRecovered(t *testing.T) {
	for name, leave := range map[string]func(path string) error{
		"before it was made":           os.Remove,
		"before its first line":        func(path string) error { return os.Truncate(path, 0) },
		"in the midst of its first":    func(path string) error { return os.Truncate(path, 100) },
		"with nothing but line feeds":  func(path string) error { return os.WriteFile(path, []byte("\n\n"), 0o600) },
		"with zeros for its first one": func(path string) error { return os.WriteFile(path, make([]byte, 5000), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			chain := crash(t, dir, Options{MaxSegmentBytes: minSegmentBytes}, func(l *Ledger) {
				for l.Stats().Segments < 3 {
					appendN(t, l, 1)
				}
			})
			end := byHand(t, chain, fileOf(t, dir, chain, format.ClosedSegment(1)), fileOf(t, dir, chain, format.ClosedSegment(2)))
			if err := leave(filepath.Join(dir, chain, format.ActiveSegment)); err != nil {
				t.Fatal(err)
			}
			data := recoveredIn(t, dir, chain)
			if data.Size != uint64(len(end)) || data.Last != end[len(end)-1].Hash || data.Damage != nil {
				t.Errorf("recorded as %+v, want %d entries", data, len(end))
			}
		})
	}
}

func TestLaterChainNamesEveryChain(t *testing.T) {
	dir := t.TempDir()
	for range 4 {
		l := openTest(t, dir, Options{})
		appendN(t, l, 1)
		closeTest(t, l)
	}
	chains := chainsOf(t, dir)
	for i, chain := range chains {
		entries := byHand(t, chain, fileOf(t, dir, chain, format.ActiveSegment))
		before := entries[0].Data.Before
		if i == 0 && len(before) == 0 {
			continue
		}
		if len(before) != 1 || before[0].Chain != chains[i-1] {
			t.Errorf("chain %d names %v", i, before)
		}
	}
}

func TestOpenDoesNotReadClosedChains(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		l := openTest(t, dir, Options{})
		appendN(t, l, 10)
		closeTest(t, l)
	}
	s := newReadCounter(t, dir)
	l := openTest(t, "", Options{storage: s})
	closeTest(t, l)
	if n := s.segments.Load(); n != 0 {
		t.Errorf("%d reads of closed chains", n)
	}
}

func TestRecoveryRemovesUnfinishedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain := crash(t, dir, Options{}, func(l *Ledger) { appendN(t, l, 3) })
	for _, name := range []string{format.ClosedSegment(1) + format.GzipSuffix + ".new", format.EndFile + ".new"} {
		if err := os.WriteFile(filepath.Join(dir, chain, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	closeTest(t, openTest(t, dir, Options{}))
	if files, err := filepath.Glob(filepath.Join(dir, chain, "*.new")); err != nil || len(files) != 0 {
		t.Errorf("left: %v, %v", files, err)
	}
}
