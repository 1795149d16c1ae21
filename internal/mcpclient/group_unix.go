//go:build unix

package mcpclient

import (
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// Ask implements [Process].
func (g *group) Ask() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGTERM) }

// Kill implements [Process]. The group may have ended already.
func (g *group) Kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }
