//go:build !linux

package durable

import "os"

// SyncData makes the content and the size of a file durable.
func SyncData(f *os.File) error { return f.Sync() }
