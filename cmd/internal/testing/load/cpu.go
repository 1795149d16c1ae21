package load

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpuTime is what this process and all that descend from it have used: callers, server and whatever stands between them. It is steadier
// than the clock on a shared machine. Without /proc it is always 0.
func cpuTime() time.Duration { return cpuOf(strconv.Itoa(os.Getpid())) }

func cpuOf(pid string) time.Duration {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0 // it has ended meanwhile
	}
	// The name of the program may hold blanks, and ends with the last bracket.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	used := time.Duration(number(fields[11])+number(fields[12])) * tick
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%s/task/*/children", pid)) // the pattern is good
	for _, name := range tasks {
		children, _ := os.ReadFile(name) // a thread that has ended has none
		for _, child := range strings.Fields(string(children)) {
			used += cpuOf(child)
		}
	}
	return used
}

// tick is the unit of /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

func number(text string) int {
	n, _ := strconv.Atoi(text) // the kernel writes numbers
	return n
}
