//go:build !unix

package checklist

import "os/exec"

// ownGroup does nothing: this system has no process groups that os/exec can reach.
func ownGroup(*exec.Cmd) {}

func interruptGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killGroup(*exec.Cmd) {}
