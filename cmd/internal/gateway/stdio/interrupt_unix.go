//go:build unix

package stdio

import (
	"os"
	"syscall"
)

const canShutDown = true

// shutDown shuts down the output of a socket, which ends a blocked write.
func shutDown(f *os.File) { _ = syscall.Shutdown(int(f.Fd()), syscall.SHUT_WR) } // the peer may be gone
