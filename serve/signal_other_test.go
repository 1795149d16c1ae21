//go:build !unix

package serve_test

import "syscall"

// releaseSignal stands in for a signal that this system does not have.
const releaseSignal = syscall.SIGTRAP
