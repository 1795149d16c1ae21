//go:build unix

package candortest

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup makes the process the leader of a process group, so that its children can be killed with it.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) { // it has ended already
		return nil
	}
	return err
}
