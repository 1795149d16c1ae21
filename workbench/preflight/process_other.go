//go:build !linux

package preflight

import (
	"errors"
	"os"
	"syscall"
)

// Elsewhere only the command itself is ended, and memory is not watched.

const limitsWork = false

func attributes() *syscall.SysProcAttr { return nil }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func groupAlive(int) bool { return false }

func groupMemory(int) int64 { return 0 }

func signalOf(*os.ProcessState) string { return "" }

// LimitedMain works on Linux alone.
func LimitedMain([]string) error { return errors.New("limits are not supported on this system") }
