//go:build unix

package python

import "syscall"

// isFileSizeSignal reports whether a process was ended because it wrote a file that was too large.
func isFileSizeSignal(s syscall.Signal) bool { return s == syscall.SIGXFSZ }
