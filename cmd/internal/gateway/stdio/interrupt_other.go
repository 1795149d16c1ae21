//go:build !unix

package stdio

import "syscall"

func signalName(sig syscall.Signal) string { return sig.String() }
