package ship

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// TestALineThatTheWriterTookBackIsNotShipped has a writer on a disk that was full in the middle of a batch: it removes what it had written of
// it, and writes other lines with the same numbers. The shipper must not send the first ones, nor take the second ones as damage.
func TestALineThatTheWriterTookBackIsNotShipped(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]float64{"whole": 1, "half": 0.5} {
		t.Run(name, func(t *testing.T) { shipTakenBack(t, part) })
	}
}

// shipTakenBack ships a chain from which part of a line is taken back after it was read.
func shipTakenBack(t *testing.T, part float64) {
	t.Helper()
	dir, chain := written(t, 300)
	folder := filepath.Join(dir, chain)
	whole, notes, end := fileOf(t, folder, "audit-log.jsonl"), fileOf(t, folder, "checkpoints"), fileOf(t, folder, "end")
	if err := os.Remove(filepath.Join(folder, "end")); err != nil { // as if it were being written
		t.Fatal(err)
	}
	const blockEnd = "\n---\n"
	put(t, folder, "checkpoints", notes[:bytes.Index(notes, []byte(blockEnd))+len(blockEnd)])
	durable := durableOf(t, dir, chain)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	before := bytes.Join(lines[:durable], nil)
	undone := append(after(t, bytes.TrimSpace(lines[durable-1])), '\n')
	undone = undone[:int(float64(len(undone))*part)]
	put(t, folder, "audit-log.jsonl", append(bytes.Clone(before), undone...))

	store := newStore(t)
	var once sync.Once
	var replaced error
	store.set(nil, func() error { // the lines before were read, and with them what is taken back
		once.Do(func() {
			replaced = replace(filepath.Join(folder, "audit-log.jsonl"), int64(len(before)), whole[len(before):])
		})
		return nil
	})
	s, err := Start(t.Context(), configOf(dir, store, "", io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the lines before are shipped", func() bool { return len(stored(t, store, chain)) >= durable })
	put(t, folder, "checkpoints", notes)
	wait.Until(t, "the other lines are shipped", func() bool {
		return len(stored(t, store, chain)) >= durableOf(t, dir, chain) || len(s.Stats().Problems) > 0
	})
	put(t, folder, "end", end)
	wait.Until(t, "the chain is shipped", func() bool { return len(stored(t, store, chain)) >= len(lines)-1 || len(s.Stats().Problems) > 0 })
	if p := s.Stats().Problems; len(p) > 0 {
		t.Errorf("problems: %v", p)
	}
	if _, err := s.Close(t.Context()); err != nil || replaced != nil {
		t.Error(err, replaced)
	}
	same(t, dir, store)
}

func fileOf(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// put replaces a file.
func put(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	aside := filepath.Join(dir, name+".tmp")
	if err := errors.Join(os.WriteFile(aside, text, 0o600), os.Rename(aside, filepath.Join(dir, name))); err != nil {
		t.Fatal(err)
	}
}

// replace replaces what follows the first size bytes of a file.
func replace(name string, size int64, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	_, writing := f.WriteAt(text, size)
	return errors.Join(err, writing, f.Close())
}

// durableOf returns the last entry of a chain that is known to be durable.
func durableOf(t *testing.T, dir, chain string) int {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	seq, _, err := r.Durable(chain)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return int(seq)
}
