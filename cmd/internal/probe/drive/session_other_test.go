//go:build !unix

package drive_test

import "os/exec"

// ownSession does nothing: this system has no sessions to leave.
func ownSession(*exec.Cmd) {}
