//go:build !unix

package stdio

import (
	"os"
	"syscall"
)

const canShutDown = false

func shutDown(*os.File) {}

func signalName(sig syscall.Signal) string { return sig.String() }
