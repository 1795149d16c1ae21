//go:build unix

package kaiza_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// holdTrail locks a trail in this process until release is called.
func holdTrail(t testing.TB, dir string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { _ = f.Close() }
}
