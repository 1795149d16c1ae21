package storage

import (
	"math"
	"os"
)

// syncFolder does nothing: Windows needs no sync of folders.
func syncFolder(*os.File) error { return nil }

// freeSpace is not supported on this system; a full disk is noticed when a write fails.
func freeSpace(string) (uint64, error) { return math.MaxUint64, nil }
