//go:build !unix

package candortest

import (
	"errors"
	"os"
	"os/exec"
)

// ownGroup does nothing: this system has no process groups that os/exec can reach.
func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
