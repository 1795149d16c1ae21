package kaiza_test

import (
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/filelock"
)

// holdTrail locks a trail in this process until release is called.
func holdTrail(t testing.TB, dir string) (release func()) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := filelock.Open(root, "lock")
	if err != nil {
		t.Fatal(err)
	}
	return func() { _, _ = f.Close(), root.Close() }
}
