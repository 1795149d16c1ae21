package ledger

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

func TestTreeMatchesTlog(t *testing.T) {
	var all tree.Tree
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		var found []tlog.Hash
		for _, i := range at {
			found = append(found, hashes[i])
		}
		return found, nil
	})
	leaves := tree.NewRecordHasher()
	for n := range int64(300) {
		if root, err := tlog.TreeHash(n, reader); err != nil || root != all.Root() {
			t.Fatalf("another root over %d records (%v)", n, err)
		}
		same, err := tree.FromEdges(all.Size, all.Edges())
		if err != nil || same.Root() != all.Root() {
			t.Fatalf("the edge over %d records does not give the root (%v)", n, err)
		}
		record := []byte(strings.Repeat("r", int(n)))
		stored, err := tlog.StoredHashes(n, record, reader)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, stored...)
		all.Push(leaves.Sum(record))
	}
	if _, err := tree.FromEdges(math.MaxUint64, nil); err == nil {
		t.Error("an edge that does not fit was taken")
	}
}

// TestCheckpointWithinOneSecondInBothFiles uses the fake clock of synctest, so that a busy machine makes no
// difference.
func TestCheckpointWithinOneSecondInBothFiles(t *testing.T) {
	t.Parallel()
	dir, second := t.TempDir(), filepath.Join(t.TempDir(), "second", "checkpoints")
	synctest.Test(t, func(t *testing.T) {
		l := openTest(t, dir, Options{WitnessCopy: second})
		chain := appendN(t, l, 3).Chain
		began := time.Now()
		waitFor(t, func() bool { return len(fileOf(t, dir, chain, format.CheckpointsFile)) > 0 })
		if took := time.Since(began); took > time.Second {
			t.Errorf("after %v", took)
		}
		waitFor(t, func() bool { return l.Stats().Appended == 5 })
		time.Sleep(1100 * time.Millisecond) // the time of the bubble: longer than the interval of checkpoints
		if got := l.Stats().Checkpoints; got != 1 {
			t.Errorf("%d checkpoints although nothing happened", got)
		}
		closeTest(t, l)
		lines := fileOf(t, dir, chain, format.ActiveSegment)
		if got := checkNotes(t, fileOf(t, dir, chain, format.CheckpointsFile), l.PublicKey(), lines); !slices.Equal(got, []int64{4, 5}) {
			t.Errorf("checkpoints over %v", got)
		}
		if !slices.Equal(fileOf(t, second), fileOf(t, dir, chain, format.CheckpointsFile)) {
			t.Error("the witness copy holds something else")
		}
	})
}

func TestCheckpointCoversOnlySyncedEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newFaulty(t, dir)
	unsynced := 0
	s.set(func(act, name string) error {
		switch {
		case act == "write" && name == format.ActiveSegment:
			unsynced++
		case act == "sync" && name == format.ActiveSegment:
			unsynced = 0
		case act == "write" && (name == format.CheckpointsFile || name == "second") && unsynced > 0:
			t.Error("a checkpoint was written while entries were not durable")
		}
		return nil
	})
	l := openTest(t, "", Options{storage: s, WitnessCopy: "second", witnessStorage: s, MaxSegmentBytes: minSegmentBytes})
	appendN(t, l, 700)
	closeTest(t, l)
}

func TestFailingWitnessCopyOnlyWarns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	second := newFaulty(t, t.TempDir())
	warned := make(chan Warning, 64)
	l := openTest(t, dir, Options{WitnessCopy: "second", witnessStorage: second, OnWarning: func(w Warning) { warned <- w }})
	on := failing(second, "write", "second", shortWrite{syscall.EIO})
	appendN(t, l, 300)
	on.Store(false)
	last := appendN(t, l, 300)
	closeTest(t, l)
	if w := <-warned; w.Kind != warningWitnessCopy {
		t.Errorf("warned of %+v", w)
	}
	entries := ofKind(byHand(t, last.Chain, fileOf(t, dir, last.Chain, format.ActiveSegment)), KindCheckpoint)
	if second := entries[0].Data.Second; second == nil || *second {
		t.Error("the entry does not say that the witness copy failed")
	}
	if second := entries[len(entries)-1].Data.Second; second != nil {
		t.Errorf("the last entry says %v", *second)
	}
}

func TestRotateKey(t *testing.T) {
	dir := t.TempDir()
	l := openTest(t, dir, Options{})
	first := l.PublicKey()
	closeTest(t, l)
	digest := fileOf(t, dir, format.DigestKey)
	fresh, err := RotateKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	l = openTest(t, dir, Options{})
	if l.PublicKey() != fresh || fresh == first {
		t.Errorf("the key is %s, want the fresh one %s", l.PublicKey(), fresh)
	}
	chain := appendN(t, l, 1).Chain
	closeTest(t, l)
	checkNotes(t, fileOf(t, dir, chain, format.CheckpointsFile), fresh, fileOf(t, dir, chain, format.ActiveSegment))
	if !slices.Equal(digest, fileOf(t, dir, format.DigestKey)) {
		t.Error("the key for digests has changed")
	}
	public, err := PublicKeys(dir)
	if err != nil || !slices.Equal(public, []string{fresh, first}) {
		t.Errorf("%v, %v", public, err)
	}
}

func TestArgumentDigestDependsOnKey(t *testing.T) {
	digests := map[string]bool{}
	for range 2 {
		dir := t.TempDir()
		l := openTest(t, dir, Options{})
		for range 2 {
			if _, err := l.Append(context.Background(), Entry{Kind: KindFailure, Args: []byte(`{"a":1}`)}); err != nil {
				t.Fatal(err)
			}
		}
		closeTest(t, l)
		for _, e := range ofKind(byHand(t, *l.writing.Load(), fileOf(t, dir, *l.writing.Load(), format.ActiveSegment)), KindFailure) {
			if e.Args.Bytes != 7 {
				t.Errorf("%+v", e.Args)
			}
			digests[e.Args.Digest] = true
		}
	}
	if len(digests) != 2 {
		t.Errorf("two folders gave %d digests", len(digests))
	}
}
