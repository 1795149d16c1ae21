//go:build unix

package stdio

import (
	"os"
	"syscall"
)

const canShutDown = true

// shutDown ends the output of a socket, and with it a write that waits.
func shutDown(f *os.File) { _ = syscall.Shutdown(int(f.Fd()), syscall.SHUT_WR) } // its peer may be gone
