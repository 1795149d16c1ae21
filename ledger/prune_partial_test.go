package ledger_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// TestVerifyAcceptsAnyPartOfAPrune restores every combination of the segments that a prune removed. A power cut can
// leave any of them, because their removal is recorded first and is durable only at the end.
func TestVerifyAcceptsAnyPartOfAPrune(t *testing.T) {
	var before, after, second fstest.MapFS
	w := workload{second: true, prunes: true, options: ledger.Options{MaxSegmentBytes: ledger.MinSegmentBytes}}
	w.play = func(s *stage) {
		used := s.fillForPrune()
		before = copyOf(t, s.disk.View())
		s.prune(time.Hour)
		s.close(used)
		after, second = copyOf(t, s.disk.View()), copyOf(t, s.second.View())
	}
	if s := perform(t, w, 1, nil); len(s.refused) > 0 {
		t.Fatal(s.refused)
	}
	var removed []string
	for name := range before {
		if after[name] == nil && strings.HasSuffix(name, ".jsonl") {
			removed = append(removed, name)
		}
	}
	slices.Sort(removed)
	if len(removed) < 4 || len(removed) > 8 {
		t.Fatalf("removed %v", removed)
	}
	for part := range 1 << len(removed) {
		disk := fstest.MapFS{}
		for name, file := range after {
			disk[name] = file
		}
		var restored []string
		for i, name := range removed {
			if part>>i&1 == 1 {
				disk[name] = before[name]
				restored = append(restored, name)
			}
		}
		report, err := verify.FS(t.Context(), disk, verify.Options{WitnessFS: second, WitnessCopies: []string{"second"}})
		if err != nil || !report.OK {
			t.Errorf("with %v: %v %v", restored, report.Damage, err)
		}
	}
}

// copyOf returns the current files of a file system.
func copyOf(t *testing.T, fsys fs.FS) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(fsys, ".", func(name string, item fs.DirEntry, err error) error {
		if err != nil || item.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		info, failed := item.Info()
		if err = errors.Join(err, failed); err == nil {
			files[name] = &fstest.MapFile{Data: data, Mode: info.Mode()}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
