//go:build !linux

package drive

import (
	"os"
	"syscall"
)

// Only on Linux all that a server has started is ended with it: elsewhere the server itself is.

func attributes() *syscall.SysProcAttr { return nil }
func (c *child) terminate()            { _ = c.cmd.Process.Signal(os.Interrupt) }
func (c *child) kill()                 { _ = c.cmd.Process.Kill() }
func (c *child) sweep()                {}
