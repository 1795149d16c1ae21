//go:build unix

package checklist

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the go command in a process group, so that its tests can be interrupted too: it waits for them when it is interrupted.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interruptGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// killGroup kills processes of the group that are still running.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
