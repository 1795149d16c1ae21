//go:build !unix

package driver_test

import "os/exec"

// ownSession does nothing: this system lacks sessions.
func ownSession(*exec.Cmd) {}
