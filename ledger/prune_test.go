package ledger

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
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
	if p, err := Prune(t.Context(), dir, Options{RetainBytes: 1}); !errors.Is(err, segment.ErrNoLedger) || len(p.Removed) != 0 {
		t.Errorf("an empty folder: %+v, %v", p, err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 0 {
		t.Errorf("created %v", files)
	}
}

// reusable is a storage that can be used after Prunable has closed it.
type reusable struct{ storage.Storage }

func (reusable) Close() error { return nil }

// unstatable is a storage in which the metadata of one file cannot be read.
type unstatable struct {
	storage.Storage
	name string
}

func (u unstatable) Files() fs.FS { return unstatableFiles{u.Storage.Files(), u.name} }

type unstatableFiles struct {
	fs.FS
	name string
}

func (u unstatableFiles) Stat(name string) (fs.FileInfo, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: syscall.EIO}
	}
	return fs.Stat(u.FS, name)
}

func TestPruneKeepsChainWithUnreadableSegment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var chains []string
	for range 2 {
		l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
		chains = append(chains, fillSegments(t, l, 3))
		closeTest(t, l)
	}
	kept, unreadable := segmentsOf(t, dir), chains[0]+"/"+format.ClosedSegment(1)
	p, err := Prune(t.Context(), dir, Options{RetainBytes: 1, storage: reusable{unstatable{testStorage(t, dir), unreadable}}})
	if failed := (*candor.Error)(nil); !errors.As(err, &failed) || !strings.Contains(failed.Unwrap().Error(), chains[0]) {
		t.Errorf("the error does not name the chain: %v", err)
	}
	if len(p.Removed) != kept/2 || slices.ContainsFunc(p.Removed, func(r Removed) bool { return r.Chain == chains[0] }) {
		t.Errorf("of %d segments, removed %+v", kept, p.Removed)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, chains[0], format.SegmentPrefix+"*")); len(files) != kept/2 {
		t.Errorf("left of the chain: %v", files)
	}
}

func TestPruneStopsAtSegmentThatCannotBeRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{MaxSegmentBytes: minSegmentBytes})
	chain := fillSegments(t, l, 4)
	closeTest(t, l)
	s := newFaulty(t, dir)
	failing(s, "remove", format.ClosedSegment(2), syscall.EACCES)
	p, err := Prune(t.Context(), dir, Options{RetainBytes: 1, storage: reusable{s}})
	if !errors.Is(err, syscall.EACCES) {
		t.Errorf("error %v", err)
	}
	if len(p.Removed) != 1 || p.Removed[0].File != chain+"/"+format.ClosedSegment(1) {
		t.Errorf("removed %+v", p.Removed)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, chain, format.SegmentPrefix+"*")); len(files) != 4 {
		t.Errorf("left of the chain: %v", files)
	}
}
