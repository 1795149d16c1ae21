//go:build unix

package serve_test

import "syscall"

// releaseSignal lets the held tool return.
const releaseSignal = syscall.SIGUSR1
