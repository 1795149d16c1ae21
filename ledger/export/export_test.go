package export

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/forge"
	"github.com/candor-mcp/candor/ledger"
)

// TestWriteExportsEveryEntry exports each format from a folder that is also damaged.
func TestWriteExportsEveryEntry(t *testing.T) {
	forged := forge.Sample(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, forged.FS()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, forged.Chains[1].Name, format.ActiveSegment)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(name, append(data, 0xff, 0xfe), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, format := range Formats() {
		skipped := 0
		entries := r.Entries(context.Background(), ledger.ReadOptions{Skipped: func(string, int64) { skipped++ }})
		if n, err := Write(io.Discard, format, entries); err != nil || n != 614 || skipped != 1 {
			t.Errorf("%s: %d entries, %d skipped, %v", format, n, skipped, err)
		}
	}
	if _, err := Write(io.Discard, "xml", r.Entries(context.Background(), ledger.ReadOptions{})); err == nil {
		t.Error("a format that does not exist was written")
	}
	stats, err := Count(context.Background(), r, byTool, ledger.ReadOptions{})
	if err != nil || stats.Failures != 607 || stats.Skipped != 1 || len(stats.Buckets) != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
}
