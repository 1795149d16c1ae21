package drive_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestNobodyIsLeftBehind(t *testing.T) {
	run := driven(t, server("forks"), quick(missing))
	var pid int
	if _, err := fmt.Sscanf(run.Greeting.Stderr, "forked %d", &pid); err != nil {
		t.Fatalf("the server does not tell whom it has forked: %q", run.Greeting.Stderr)
	}
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil && !strings.Contains(string(status), "State:\tZ") {
		t.Errorf("process %d has left the group, ignores SIGTERM, and is still there", pid)
	}
}
