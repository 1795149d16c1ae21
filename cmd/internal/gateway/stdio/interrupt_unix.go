//go:build unix

package stdio

import (
	"cmp"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName returns the name of a signal, such as SIGKILL.
func signalName(sig syscall.Signal) string { return cmp.Or(unix.SignalName(sig), sig.String()) }
