package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpuTime is what this process and all that descend from it have used: callers, server and whatever stands between them. It is steadier
// than the clock where others work too. Where there is no /proc it is always 0.
func cpuTime() time.Duration {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
	used, children := map[int]time.Duration{}, map[int][]int{}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		// The name of the program may hold blanks, and ends with the last bracket.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, parent := number(filepath.Base(filepath.Dir(name))), number(fields[1])
		used[pid] = time.Duration(number(fields[11])+number(fields[12])) * tick
		children[parent] = append(children[parent], pid)
	}
	var sum func(pid int) time.Duration
	sum = func(pid int) time.Duration {
		all := used[pid]
		for _, child := range children[pid] {
			all += sum(child)
		}
		return all
	}
	return sum(os.Getpid())
}

// tick is the unit of /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

func number(text string) int {
	n, _ := strconv.Atoi(text) // the kernel writes numbers
	return n
}
