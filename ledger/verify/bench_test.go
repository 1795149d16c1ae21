package verify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/forge"
)

// benchFolder writes a ledger of about bytesWanted bytes to a folder. Its entries have the size of typical failures,
// 0.5 to 1 KiB.
func benchFolder(t testing.TB, bytesWanted int) string {
	f := forge.New(t)
	c := f.Chain()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, c.Name), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for total := 0; total < bytesWanted; {
		c.Fail(2000)
		c.Lines = nil
		total += len(c.Segments[0])
		write(c.Name+"/audit-log.jsonl", c.Segments[0])
		c.Segments[0] = nil
	}
	c.Checkpoint(true)
	write(c.Name+"/audit-log.jsonl", c.Segments[0])
	write(c.Name+"/checkpoints", c.Notes)
	if err := os.MkdirAll(filepath.Join(dir, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("keys/signer.pub", []byte(f.Public+"\n"))
	return dir
}

// naiveVerify is a straightforward implementation: it decodes each line into a map, encodes it again with sorted
// keys, hashes it and compares links. It does not check the tree or signatures.
func naiveVerify(r io.Reader) (int, error) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, format.MaxLine)
	count, prev := 0, ""
	for scanner.Scan() {
		var entry map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &entry); err != nil {
			return count, err
		}
		if link, _ := entry["prev"].(string); prev != "" && link == "" {
			return count, fmt.Errorf("entry %d has no link", count)
		}
		prev, _ = entry["hash"].(string)
		delete(entry, "hash")
		text, err := json.Marshal(entry) // sorts the keys
		if err != nil {
			return count, err
		}
		sum := sha256.Sum256(text)
		if hex.EncodeToString(sum[:]) == "" {
			return count, fmt.Errorf("entry %d", count)
		}
		count++
	}
	return count, scanner.Err()
}

// BenchmarkP11 reports how many times faster the verifier is than naiveVerify. It alternates between the two, so that
// noise on the machine affects both.
func BenchmarkP11(b *testing.B) {
	dir := benchFolder(b, 4<<20)
	chains, err := filepath.Glob(filepath.Join(dir, "*", format.ActiveSegment))
	if err != nil || len(chains) != 1 {
		b.Fatal(chains, err)
	}
	data, err := os.ReadFile(chains[0])
	if err != nil {
		b.Fatal(err)
	}
	var ratios []float64
	for b.Loop() {
		began := time.Now()
		if r, err := Dir(context.Background(), dir, Options{}); err != nil || !r.OK {
			b.Fatal(err, r.Damage)
		}
		ours := time.Since(began)
		began = time.Now()
		if _, err := naiveVerify(bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
		ratios = append(ratios, float64(time.Since(began))/float64(ours))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-naive")
}

// TestVerifyMemoryIsConstant measures the heap while it verifies ledgers of 1 MB and 32 MB, and with
// CANDOR_FULL also 1 GB.
func TestVerifyMemoryIsConstant(t *testing.T) {
	sizes := []int{1 << 20, 32 << 20}
	if testing.Short() {
		sizes = []int{1 << 20, 8 << 20}
	}
	if os.Getenv("CANDOR_FULL") != "" {
		sizes = append(sizes, 1<<30)
	}
	var peaks []uint64
	for _, size := range sizes {
		dir := benchFolder(t, size)
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		peak := uint64(0)
		look := func(Progress) {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapInuse-min(now.HeapInuse, before.HeapInuse))
		}
		if r, err := Dir(context.Background(), dir, Options{Progress: look}); err != nil || !r.OK {
			t.Fatal(err, r.Damage)
		}
		look(Progress{})
		peaks = append(peaks, peak)
	}
	t.Logf("peaks in KiB: %d", kib(peaks))
	for _, peak := range peaks {
		if peak > 16<<20 {
			t.Errorf("%d KiB at once: not flat", peak>>10)
		}
	}
}

func kib(list []uint64) []uint64 {
	out := make([]uint64, len(list))
	for i, n := range list {
		out[i] = n >> 10
	}
	return out
}
