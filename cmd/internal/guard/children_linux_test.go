//go:build !portableguard

package guard

import (
	"os/exec"
	"slices"
	"testing"
)

func TestChildrenAreFoundWithAListAndWithout(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	for _, threads := range []string{"/proc/self/task", "/nowhere"} {
		if found := children(threads); !slices.Contains(found, pid) {
			t.Errorf("%s: %v lacks %d", threads, found, pid)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, threads := range []string{"/proc/self/task", "/nowhere"} {
		if found := children(threads); slices.Contains(found, pid) {
			t.Errorf("%s: %v still has %d", threads, found, pid)
		}
	}
}
