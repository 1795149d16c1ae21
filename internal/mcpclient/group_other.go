//go:build !unix

package mcpclient

import "os/exec"

func ownGroup(*exec.Cmd) {}

// Ask implements [Process].
func (g *group) Ask() {}

// Kill implements [Process].
func (g *group) Kill() { _ = g.cmd.Process.Kill() }
