//go:build unix

package checklist

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the go command the head of a group: told to end, it waits for its tests, so they must be told themselves.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interruptGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// killGroup ends what is left of the group; usually nothing is.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
