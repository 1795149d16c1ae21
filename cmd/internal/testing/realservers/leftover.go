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

// patience is how long a process may take to exit after its connection was closed.
const patience = 2 * time.Second

// Leftovers waits until every process that was started on this ground has exited. It kills those that have not and
// returns their command lines. It finds them by their environment, which a process keeps when it changes its process
// group or loses its parent.
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
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have exited meanwhile
				names = append(names, fmt.Sprintf("%d: %s", pid, line))
			}
			return names
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// processes returns the command lines of the processes with the marker. Without /proc it finds none.
func (g Ground) processes() map[int]string {
	found := map[int]string{}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, folder := range folders {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !bytes.Contains(environment, []byte(g.Marker+"\x00")) {
			continue // it has exited, or belongs to another user
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
