//go:build unix

package driver_test

import (
	"os/exec"
	"syscall"
)

// ownSession makes a process leave the process group and the session of this one.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
