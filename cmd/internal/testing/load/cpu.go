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

// cpuTime returns the CPU time that this process and all its descendants have used: callers, server and the processes between
// them. It varies less than elapsed time on a shared machine. Without /proc it is always 0.
func cpuTime() time.Duration { return cpuOf(strconv.Itoa(os.Getpid())) }

func cpuOf(pid string) time.Duration {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0 // it has ended in the meantime
	}
	// The program name may contain spaces, and ends with the last parenthesis.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	used := time.Duration(number(fields[11])+number(fields[12])) * tick
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%s/task/*/children", pid)) // the pattern is valid
	for _, name := range tasks {
		children, _ := os.ReadFile(name) // a thread that has ended has no children
		for _, child := range strings.Fields(string(children)) {
			used += cpuOf(child)
		}
	}
	return used
}

// tick is the unit of /proc, the same on every Linux that Go supports.
const tick = 10 * time.Millisecond

func number(text string) int {
	n, _ := strconv.Atoi(text) // the kernel writes numbers
	return n
}
