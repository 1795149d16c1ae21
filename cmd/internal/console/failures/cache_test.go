package failures_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

// once opens a store, compares it with the ledger and ends it.
func once(t *testing.T, dir, cache string, random *rand.Rand) {
	t.Helper()
	s, err := failures.Open(dir, failures.Options{Cache: cache, Poll: fast})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	<-s.Ready()
	compare(t, s, dir, random, 5)
	cancel()
	running.Wait()
	s.Close()
}

func TestCopyOfTheIndexIsNeverTrustedAgainstTheLedger(t *testing.T) {
	defer failures.SetMinSaved(1)()
	dir, cache, random := t.TempDir(), t.TempDir(), rand.New(rand.NewPCG(8, 8))
	l := openLedger(t, dir, ledger.Options{MaxSegmentBytes: 10 << 10, Compress: true})
	appendRandom(t, l, random, 80)
	once(t, dir, cache, random)
	files, err := filepath.Glob(cache + "/*")
	if err != nil || len(files) != 1 {
		t.Fatalf("files in the cache: %v, %v; want one", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode of the copy: %v, %v; want none for others", info.Mode(), err)
	}
	once(t, dir, cache, random) // unchanged

	appendRandom(t, l, random, 60) // the active segment grows and is closed
	once(t, dir, cache, random)

	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		bad := append([]byte(nil), good...)
		if at := random.IntN(len(bad)); random.IntN(3) == 0 {
			bad = bad[:at]
		} else {
			bad[at] ^= byte(1 + random.IntN(255))
		}
		if err := os.WriteFile(files[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		once(t, dir, cache, random)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Prune(context.Background(), dir, ledger.Options{RetainBytes: 4 << 10}); err != nil {
		t.Fatal(err)
	}
	once(t, dir, cache, random)
}

func TestCopyOfAnotherFileIsNotContinued(t *testing.T) {
	defer failures.SetMinSaved(1)()
	random, cache := rand.New(rand.NewPCG(12, 12)), t.TempDir()
	dir := killed(t, random, ledger.Options{})
	names, err := filepath.Glob(dir + "/*/audit-log.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	i, j := sameLength(t, lines)
	before, after := slices.Concat(lines[:i+1]...), slices.Concat(slices.Concat(lines[:i], lines[j:])...)
	for _, data := range [][]byte{before, after, before, whole} {
		if err := os.WriteFile(names[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		once(t, dir, cache, random)
	}
}

// sameLength returns two failures whose lines have the same length, not the last ones.
func sameLength(t *testing.T, lines [][]byte) (i, j int) {
	t.Helper()
	for i = range lines {
		for j = i + 1; j < len(lines)-5; j++ {
			if len(lines[i]) == len(lines[j]) && bytes.Contains(lines[i], []byte(`"kind":"failure"`)) && bytes.Contains(lines[j], []byte(`"kind":"failure"`)) {
				return i, j
			}
		}
	}
	t.Fatal("no two lines have the same length")
	return 0, 0
}

func TestStoreWritesNothingIntoTheLedger(t *testing.T) {
	defer failures.SetMinSaved(1)()
	dir, random := t.TempDir(), rand.New(rand.NewPCG(9, 9))
	l := openLedger(t, dir, ledger.Options{})
	appendRandom(t, l, random, 50)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	once(t, dir, t.TempDir(), random)
	if after := files(t, dir); len(after) != len(before) {
		t.Errorf("files before: %v, after: %v", before, after)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
