//go:build !unix

package python

import "syscall"

// isFileSizeSignal reports false: only Unix limits the size of files with a signal.
func isFileSizeSignal(syscall.Signal) bool { return false }
