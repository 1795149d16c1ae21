package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/filelock"
)

func TestLockBelongsToOneOpenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // the test is over
	held, err := filelock.Open(root, "lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.WriteString("note"); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Open(root, "lock"); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("opening it again: %v", err)
	}
	if _, err := filelock.Wait(context.Background(), root, "lock", 10*time.Millisecond); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("waiting for it: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "lock")); string(text) != "note" {
		t.Errorf("others read %q, %v", text, err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := filelock.Open(root, "lock")
	if err != nil {
		t.Fatalf("after it was closed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
