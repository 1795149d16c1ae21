//go:build !linux

package guard

import (
	"os"
	"os/exec"
	"syscall"
)

// Only Linux can kill a process with its parent. On other systems only the command is killed.

const works = false

// Limitable reports whether [Limits] are enforced on this system.
const Limitable = works

func attributes(bool) *syscall.SysProcAttr { return nil }

// Ask interrupts the command.
func (p *Process) Ask() { _ = p.cmd.Process.Signal(os.Interrupt) }

func (p *Process) force() { _ = p.cmd.Process.Kill() }

func (p *Process) bury() { p.end = End{Code: p.cmd.ProcessState.ExitCode()} }

// AdoptOrphans is not supported on this system and does nothing.
func AdoptOrphans() error { return nil }

type ownChildren struct{}

var own ownChildren

func (ownChildren) start(cmd *exec.Cmd) error { return cmd.Start() }
func (ownChildren) ended(int)                 {}

// Memory is not supported on this system and returns 0.
func (*Process) Memory() int64 { return 0 }

// Main is not supported on this system. It starts nothing and returns 1.
func Main([]string) int { return 1 }

// Confinable reports that no part of a [Confinement] can be enforced on this system.
func Confinable() (files, calls bool) { return false, false }
