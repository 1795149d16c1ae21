// Package sweep has the -all flag of tests that try every position of a file or every operation, or only some of them.
package sweep

import (
	"flag"
	"os"
	"testing"
)

var allPlaces = flag.Bool("all", false, "sweep over all places: fail every operation, flip every bit, cut at every byte. .ci/run torture does")

// Step returns how far the places of a sweep are from each other: 1 with -all, else as given for the usual run and for a short one.
func Step(usual, short int) int {
	switch {
	case *allPlaces:
		return 1
	case testing.Short():
		return short
	default:
		return usual
	}
}

// MemoryDir returns a folder in memory, where there is one. It is for tests that sync thousands of times and never lose the power.
func MemoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "candor-ledger")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
