//go:build !linux

package natscluster

import (
	"os"
	"os/exec"
)

// Only tests on Linux pause servers.
var (
	pauseSignal    = os.Interrupt
	continueSignal = os.Interrupt
)

func dieWithParent(*exec.Cmd) {}
