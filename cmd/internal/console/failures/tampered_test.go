package failures_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
)

// TestForgedLinesAreCountedAsStatsDoes changes bytes of lines and makes their hashes right again, as a person can who
// edits the file. The store must list the lines as they are then, and count as many as candor ledger stats.
func TestForgedLinesAreCountedAsStatsDoes(t *testing.T) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(13, 13))
	dir := killed(t, random, ledger.Options{})
	names, err := filepath.Glob(dir + "/*/audit-log.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		var forged []byte
		for line := range bytes.Lines(data) {
			forged = append(forged, forge(random, line)...)
		}
		if err := os.WriteFile(names[0], forged, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, failures.Options{})
		sum, err := s.Summarize(ctx, failures.Filter{})
		if want := stats(t, dir, "code"); err != nil || sum.Total != want.Failures {
			t.Fatalf("%d failures, %v; want %d", sum.Total, err, want.Failures)
		}
		page, err := s.List(ctx, failures.Filter{}, "", 1000)
		if err != nil || len(page.Failures) != int(sum.Total) {
			t.Fatalf("%d failures in the list, %v; want %d", len(page.Failures), err, sum.Total)
		}
		if _, err := s.List(ctx, failures.Filter{Text: "é"}, "", 10); err != nil {
			t.Fatal(err)
		}
	}
}

// forge changes some bytes after the head of a line, and its hash.
func forge(random *rand.Rand, line []byte) []byte {
	begin, end := bytes.Index(line, []byte(`"kind":"failure"`)), bytes.LastIndex(line, []byte(`,"hash":"`))
	if begin < 0 || end < 0 {
		return line
	}
	begin += len(`"kind":"failure"`)
	line = bytes.Clone(line)
	for range 1 + random.IntN(3) {
		line[begin+random.IntN(end-begin)] = pick(random, []byte(`"\{}[]:, ux0`))
	}
	sum := sha256.Sum256(line[:end])
	return append(hex.AppendEncode(append(line[:end:end], `,"hash":"`...), sum[:]), "\"}\n"...)
}

func stats(t *testing.T, dir string, by string) ledgerexport.Stats {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	s, err := ledgerexport.Count(context.Background(), r, by, ledger.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
