package realservers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long a process may take to end after its connection was closed.
const patience = 2 * time.Second

// Leftovers waits until every process that was started on this ground is gone, and names those that are not, by what they run.
// They are found by their environment: whoever leaves its group or loses its parent still has that. What is left is killed.
func (g Ground) Leftovers() []string {
	deadline := time.Now().Add(patience)
	for {
		left := g.processes()
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			var names []string
			for pid, line := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself just now
				names = append(names, fmt.Sprintf("%d: %s", pid, line))
			}
			return names
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// processes returns the command lines of the processes that bear the marker. Where there is no /proc it finds none.
func (g Ground) processes() map[int]string {
	found := map[int]string{}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, folder := range folders {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !bytes.Contains(environment, []byte(g.Marker+"\x00")) {
			continue // it has ended, or is somebody else's
		}
		line, err := os.ReadFile(filepath.Join(folder, "cmdline"))
		if err != nil || len(line) == 0 {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(folder)); err == nil {
			found[pid] = strings.ReplaceAll(string(bytes.TrimRight(line, "\x00")), "\x00", " ")
		}
	}
	return found
}
