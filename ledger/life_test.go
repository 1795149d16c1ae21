package ledger

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// fillSegments fills n segments and returns the chain.
func fillSegments(t *testing.T, l *Ledger, n uint64) string {
	t.Helper()
	for l.Stats().Segments <= n {
		if _, err := l.Append(context.Background(), Entry{Kind: KindFailure, Cause: strings.Repeat("z ", 200)}); err != nil {
			t.Fatal(err)
		}
	}
	return *l.writing.Load()
}

func TestRotationSignsCheckpoint(t *testing.T) {
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
	chain := fillSegments(t, l, 4)
	closeTest(t, l)
	var all []byte
	ends := map[int]bool{}
	for n := 1; n <= 4; n++ {
		segment := fileOf(t, dir, chain, format.ClosedSegment(n))
		if len(segment) < minSegmentBytes || len(segment) > 2*minSegmentBytes {
			t.Errorf("segment %d has %d bytes", n, len(segment))
		}
		all = append(all, segment...)
		ends[strings.Count(string(all), "\n")+1] = true
	}
	all = append(all, fileOf(t, dir, chain, format.ActiveSegment)...)
	entries := byHand(t, chain, all)
	checkNotes(t, fileOf(t, dir, chain, format.CheckpointsFile), l.PublicKey(), all)
	for _, e := range ofKind(entries, KindCheckpoint) {
		if starts := e.Data.Segment != 0; starts != ends[int(e.Seq)] {
			t.Errorf("entry %d: first of a segment %v, says %d", e.Seq, ends[int(e.Seq)], e.Data.Segment)
		}
	}
}

func TestCompressClosedSegments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes, Compress: true})
	chain := fillSegments(t, l, 3)
	waitFor(t, func() bool {
		plain, _ := filepath.Glob(filepath.Join(dir, chain, format.SegmentPrefix+"0*"+format.SegmentSuffix))
		return len(plain) == 0
	})
	closeTest(t, l)
	var all []byte
	for n := 1; n <= 3; n++ {
		all = append(all, unpack(t, filepath.Join(dir, chain, format.ClosedSegment(n)+format.GzipSuffix))...)
	}
	byHand(t, chain, append(all, fileOf(t, dir, chain, format.ActiveSegment)...))
}

func TestCrashDuringCompressionKeepsSegment(t *testing.T) {
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
	chain := fillSegments(t, l, 1)
	closeTest(t, l)
	whole := fileOf(t, dir, chain, format.ClosedSegment(1))
	for fault := 0; ; fault++ {
		s := newFaulty(t, dir)
		acts := 0
		s.hook = func(string, string) error {
			if acts++; acts > fault { // from here on every operation fails, as if the process were killed
				return syscall.EIO
			}
			return nil
		}
		err := compressSegment(t.Context(), s, chain, chain+"/"+format.ClosedSegment(1))
		plain, plainErr := os.ReadFile(filepath.Join(dir, chain, format.ClosedSegment(1)))
		packed := filepath.Join(dir, chain, format.ClosedSegment(1)+format.GzipSuffix)
		if plainErr != nil {
			plain = unpack(t, packed)
		}
		if !slices.Equal(plain, whole) {
			t.Fatalf("after act %d the segment is gone", fault)
		}
		if err == nil || plainErr != nil {
			return
		}
	}
}

func TestRetentionKeepsCheckpointsAndRecordsRemoval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
	first := fillSegments(t, old, 3)
	closeTest(t, old)
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes, RetainBytes: 3 * minSegmentBytes})
	chain := fillSegments(t, l, 6)
	waitFor(t, func() bool {
		l.upkeep.ring()
		left, _ := filepath.Glob(filepath.Join(dir, "*", format.SegmentPrefix+"*"))
		return len(left) <= 5
	})
	closeTest(t, l)
	notes := fileOf(t, dir, first, format.CheckpointsFile)
	if !strings.Contains(string(notes), format.Origin+first) {
		t.Error("the checkpoints of the old chain are gone")
	}
	removed := map[string]uint64{}
	left, _ := filepath.Glob(filepath.Join(dir, chain, format.SegmentPrefix+"*"))
	for _, path := range left {
		for line := range strings.Lines(string(fileOf(t, path))) {
			var e struct {
				Data struct{ Pruned []pruned }
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			for _, p := range e.Data.Pruned {
				removed[p.Chain] = max(removed[p.Chain], p.Size)
			}
		}
	}
	if removed[chain] == 0 {
		t.Errorf("records of removal: %v", removed)
	}
	s := testStorage(t, dir)
	closed, _, _ := listSegments(s, chain)
	w := newWalk(chain)
	for _, f := range closed {
		if bad, err := w.segment(s, f.Name); bad != nil || err != nil {
			t.Fatalf("what is left does not verify: %+v %v", bad, err)
		}
	}
	if bad, err := w.segment(s, chain+"/"+format.ActiveSegment); bad != nil || err != nil || !w.closed {
		t.Fatalf("what is left does not verify: %+v %v", bad, err)
	}
}

func TestRetentionByAgeKeepsActiveSegment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes, RetainAge: time.Nanosecond})
	chain := fillSegments(t, l, 3)
	waitFor(t, func() bool {
		l.upkeep.ring()
		left, _ := filepath.Glob(filepath.Join(dir, chain, format.SegmentPrefix+"*"))
		return len(left) == 1
	})
	appendN(t, l, 3)
	closeTest(t, l)
	if !strings.Contains(string(fileOf(t, dir, chain, format.ActiveSegment)), `"closed":true`) {
		t.Error("the active segment is not whole")
	}
}

func unpack(t *testing.T, path string) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(fileOf(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// waitFor waits for a background operation.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	wait.Until(t, "a background operation", done)
}
