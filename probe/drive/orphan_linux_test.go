package drive_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestNobodyIsLeftBehind(t *testing.T) {
	t.Parallel()
	run := driven(t, server("forks"), quick(missing))
	var pid int
	_, told, _ := strings.Cut(run.Observations[0].Response, `"forked":`)
	if _, err := fmt.Sscanf(told, "%d", &pid); err != nil || pid == 0 {
		t.Fatalf("the server does not tell whom it has forked: %q", run.Observations[0].Response)
	}
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil && !strings.Contains(string(status), "State:\tZ") {
		t.Errorf("process %d has left the group, ignores SIGTERM, and is still there", pid)
	}
}
