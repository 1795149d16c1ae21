//go:build !windows

package storage

import "os"

// syncFolder makes the names in a folder durable.
func syncFolder(f *os.File) error { return f.Sync() }
