//go:build unix && (!linux || portableguard)

package guard

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// This file is the part of a guard that is special to Unix systems other than Linux. They cannot find descendants that have left
// the process group of the command, so a guard here kills only that group. The tag portableguard builds it on Linux, so that it
// can be tested there.

// Limitable reports whether [Limits] are enforced on this system.
const Limitable = false

// attributes returns attributes that put a process into a new group, so that it gets no signals for the terminal or group of
// this process.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Memory is not supported on this system and returns 0.
func (*Process) Memory() int64 { return 0 }

// Confinable reports that no part of a [Confinement] can be enforced on this system.
func Confinable() (files, calls bool) { return false, false }

func become([]string) error        { return errors.ErrUnsupported }
func adoptOrphans() error          { return nil }
func killChildren()                {}
func alive(int) bool               { return true }
func duplicate(from, to int) error { return unix.Dup2(from, to) }
