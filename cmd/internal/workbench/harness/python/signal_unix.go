//go:build unix

package python

import "syscall"

// isFileSizeSignal reports whether a process was ended because it wrote too large a file.
func isFileSizeSignal(s syscall.Signal) bool { return s == syscall.SIGXFSZ }
