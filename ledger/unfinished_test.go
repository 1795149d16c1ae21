package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
)

// leaveUnfinished creates the files that a process leaves in a chain if it is killed while it writes them.
func leaveUnfinished(t *testing.T, dir, chain string) {
	t.Helper()
	for _, name := range []string{format.ClosedSegment(1) + format.GzipSuffix + ".new", format.EndFile + ".new"} {
		if err := os.WriteFile(filepath.Join(dir, chain, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// unfinishedIn returns the unfinished files of a chain.
func unfinishedIn(t *testing.T, dir, chain string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, chain, "*.new"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPruneRemovesUnfinishedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := openTest(t, dir, Options{})
	ended := appendN(t, old, 3).Chain
	closeTest(t, old)
	l := openTest(t, dir, Options{})
	live := appendN(t, l, 3).Chain
	leaveUnfinished(t, dir, ended)
	leaveUnfinished(t, dir, live) // its writer could be writing them
	keep := Options{RetainAge: time.Hour}
	if _, err := Prunable(dir, keep); err != nil || len(unfinishedIn(t, dir, ended)) != 2 {
		t.Fatalf("prunable left %v, %v", unfinishedIn(t, dir, ended), err)
	}
	if _, err := Prune(t.Context(), dir, keep); err != nil {
		t.Fatal(err)
	}
	if files := unfinishedIn(t, dir, ended); len(files) != 0 {
		t.Errorf("left of the chain that has ended: %v", files)
	}
	if files := unfinishedIn(t, dir, live); len(files) != 2 {
		t.Errorf("left of the chain that is written: %v", files)
	}
	closeTest(t, l)
}

func TestNextWriterRemovesUnfinishedFiles(t *testing.T) {
	t.Parallel()
	t.Run("of a killed chain", func(t *testing.T) {
		dir := t.TempDir()
		chain := crash(t, dir, Options{}, func(l *Ledger) { appendN(t, l, 3) })
		leaveUnfinished(t, dir, chain)
		closeTest(t, openTest(t, dir, Options{}))
		if files := unfinishedIn(t, dir, chain); len(files) != 0 {
			t.Errorf("left: %v", files)
		}
	})
	t.Run("with retention", func(t *testing.T) {
		dir := t.TempDir()
		l := openTest(t, dir, Options{})
		chain := appendN(t, l, 3).Chain
		closeTest(t, l)
		leaveUnfinished(t, dir, chain)
		closeTest(t, openTest(t, dir, Options{RetainAge: time.Hour}))
		if files := unfinishedIn(t, dir, chain); len(files) != 0 {
			t.Errorf("left: %v", files)
		}
	})
}
