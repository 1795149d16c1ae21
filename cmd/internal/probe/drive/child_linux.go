package drive

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// sweep ends who has left the group and has no guard, or has killed it. Whatever the server has started carries the name of the scratch folder in its environment or
// works there: the name is random, so nobody else does. It looks again until there is nobody, because one may start another meanwhile.
func (c *child) sweep() {
	for range sweepTries {
		if killed := killMarked([]byte(c.scratch)); killed == 0 {
			return
		}
		time.Sleep(sweepApart)
	}
}

// killMarked kills every process that knows the mark, and returns how many are alive to be killed.
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
		environment, _ := os.ReadFile(filepath.Join(dir, "environ")) // it may just have ended, or be somebody else's
		work, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if bytes.Contains(environment, mark) || bytes.Contains([]byte(work), mark) {
			found++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return found
}
