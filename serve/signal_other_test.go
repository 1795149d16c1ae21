//go:build !unix

package serve_test

import "syscall"

// releaseSignal replaces a signal that this system lacks.
const releaseSignal = syscall.SIGTRAP
