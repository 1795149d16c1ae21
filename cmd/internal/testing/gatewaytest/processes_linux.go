package gatewaytest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
)

// PidsIn returns the process ids in an answer, and fails if any of them is not running.
func PidsIn(t *testing.T, answer string) []int {
	t.Helper()
	_, text, _ := strings.Cut(answer, `"text":"`)
	text, _, _ = strings.Cut(text, `"`)
	var pids []int
	for _, word := range strings.Fields(text) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		if syscall.Kill(pid, 0) != nil {
			t.Fatalf("%d does not live", pid)
		}
		pids = append(pids, pid)
	}
	return pids
}

// AllEnd waits until the processes have ended (target R11). A process that is left behind lives longer than the test waits.
func AllEnd(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		wait.Until(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !alive(pid) })
	}
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
