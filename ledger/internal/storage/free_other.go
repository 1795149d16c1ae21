//go:build !(darwin || dragonfly || freebsd || linux || windows)

package storage

import "math"

// freeSpace is not supported on this system; a full disk is noticed when a write fails.
func freeSpace(string) (uint64, error) { return math.MaxUint64, nil }
