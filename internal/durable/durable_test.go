package durable_test

import (
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/durable"
)

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // the test is over
	for _, text := range []string{"first", "second"} {
		if err := durable.WriteFile(root, "a.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(dir + "/a.json"); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestAFailedReplacementLeavesNothing tries to replace a folder, which must fail.
func TestAFailedReplacementLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // the test is over
	if err := os.MkdirAll(dir+"/taken/inside", 0o700); err != nil {
		t.Fatal(err)
	}
	if durable.WriteFile(root, "taken", []byte("x"), 0o600) == nil {
		t.Error("it was replaced")
	}
	if durable.WriteFile(root, "../out", []byte("x"), 0o600) == nil {
		t.Error("it was written outside")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}
