//go:build unix

package stdio

import (
	"cmp"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const canShutDown = true

// shutDown shuts down the output of a socket, which ends a blocked write.
func shutDown(f *os.File) { _ = syscall.Shutdown(int(f.Fd()), syscall.SHUT_WR) } // the peer may be gone

// signalName returns the name of a signal, such as SIGKILL.
func signalName(sig syscall.Signal) string { return cmp.Or(unix.SignalName(sig), sig.String()) }
