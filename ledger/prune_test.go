package ledger

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
)

// segmentsOf counts the files with entries in a ledger.
func segmentsOf(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", format.SegmentPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestPrunableChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
	fillSegments(t, l, 3)
	closeTest(t, l)
	before := segmentsOf(t, dir)
	p, err := Prunable(dir, Options{RetainBytes: 1})
	if err != nil || len(p.Removed) != before || p.KeptFiles != 0 {
		t.Fatalf("%d segments, prunable: %+v, %v", before, p, err)
	}
	if got := segmentsOf(t, dir); got != before || len(chainsOf(t, dir)) != 1 {
		t.Errorf("%d of %d segments are left, in chains %v", got, before, chainsOf(t, dir))
	}
}

func TestPruneBesideAWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
	chain := fillSegments(t, l, 3)
	planned, err := Prunable(dir, Options{RetainBytes: 1})
	if err != nil || len(planned.Removed) != 3 {
		t.Fatalf("prunable: %+v, %v", planned, err)
	}
	p, err := Prune(t.Context(), dir, Options{Instance: "prune", RetainBytes: 1})
	if err != nil || len(p.Removed) != len(planned.Removed) {
		t.Fatalf("removed %+v, %v; planned %+v", p, err, planned)
	}
	appendN(t, l, 3)
	closeTest(t, l)
	if files, _ := filepath.Glob(filepath.Join(dir, chain, format.SegmentPrefix+"*")); len(files) != 1 {
		t.Errorf("the writer's chain has %v", files)
	}
	if !strings.Contains(string(fileOf(t, dir, chain, format.ActiveSegment)), `"closed":true`) {
		t.Error("the writer could not go on")
	}
}

func TestPruneWritesNothingIfAllIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{})
	appendN(t, l, 3)
	closeTest(t, l)
	p, err := Prune(t.Context(), dir, Options{RetainAge: time.Hour})
	if err != nil || len(p.Removed) != 0 || p.KeptFiles != 1 || len(chainsOf(t, dir)) != 1 {
		t.Errorf("pruned %+v, %v, chains %v", p, err, chainsOf(t, dir))
	}
}

func TestPruneCreatesNoFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Prune(t.Context(), filepath.Join(dir, "missing"), Options{RetainBytes: 1}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	if p, err := Prune(t.Context(), dir, Options{RetainBytes: 1}); err != nil || len(p.Removed) != 0 {
		t.Errorf("an empty folder: %+v, %v", p, err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 0 {
		t.Errorf("created %v", files)
	}
}
