package driver

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// sweep kills processes of the server that have left its process group and are not under a guard. They have the random name of the scratch
// folder in their environment or work in it. It repeats until none is left, because a process may start another meanwhile.
func (c *child) sweep() {
	for range sweepTries {
		if killed := killMarked([]byte(c.scratch)); killed == 0 {
			return
		}
		time.Sleep(sweepApart) // processes that are not our children send no event when they end
	}
}

// killMarked kills every process with the mark in its environment or working folder, and returns their number.
func killMarked(mark []byte) int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	found := 0
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := filepath.Join("/proc", e.Name())
		environment, _ := os.ReadFile(filepath.Join(dir, "environ")) // the process may have ended, or belong to another user
		work, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if bytes.Contains(environment, mark) || bytes.Contains([]byte(work), mark) {
			found++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return found
}
