//go:build unix

package natscluster

import "syscall"

const (
	pauseSignal    = syscall.SIGSTOP
	continueSignal = syscall.SIGCONT
	reloadSignal   = syscall.SIGHUP
)
