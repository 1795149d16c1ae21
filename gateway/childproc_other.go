//go:build !linux

package gateway

import (
	"os"
	"syscall"
)

// Only Linux ties the life of a process to that of another, and only there it is tested: elsewhere the server itself is ended.

const guardsWork = false

func (*guardLine) report(s Status) Status       { return s }
func (*guardLine) order(<-chan struct{}) bool   { return false }
func (*guardLine) close()                       {}
func attributes(bool) *syscall.SysProcAttr      { return nil }
func signalled(*os.ProcessState) (Status, bool) { return Status{}, false }
func (p *process) terminate()                   { _ = p.cmd.Process.Signal(os.Interrupt) }
func (p *process) kill()                        { _ = p.cmd.Process.Kill() }
func (p *process) sweep()                       {}

// Guard is not built for this system: it starts nothing and returns 1.
func Guard([]string) int { return 1 }
