//go:build !portableguard

package guard_test

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/guard"
)

// fillHeapVariable makes the guards of this test binary fill their heap before they start.
const fillHeapVariable = "CANDOR_TEST_FILL_HEAP"

// fillHeap allocates until little of the memory that the heap has mapped is free.
func fillHeap() (all [][]byte) {
	var m runtime.MemStats
	for runtime.ReadMemStats(&m); m.HeapSys-m.HeapInuse > 768<<10 && len(all) < 4096; runtime.ReadMemStats(&m) {
		all = append(all, make([]byte, 32<<10))
	}
	return all
}

// TestLimitOnDataBindsOnlyTheCommand runs a command with a limit below the memory of the guard, whose heap would have to grow to
// hold the command line.
func TestLimitOnDataBindsOnlyTheCommand(t *testing.T) {
	t.Setenv(fillHeapVariable, "1")
	for _, confined := range []bool{false, true} {
		o := kinds(t)["guarded"]
		o.Limits.Data = 4 << 20
		if confined {
			o.Confine = &guard.Confinement{Read: []string{"/etc/ld.so.cache"}, Run: []string{"/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib"}}
		}
		args := []string{"-c", "exit 0"}
		for range 12 {
			args = append(args, strings.Repeat("x", 120<<10))
		}
		p, err := guard.Start(exec.Command("/bin/sh", args...), o)
		if err != nil {
			t.Fatal(err)
		}
		if end := p.End(); end != (guard.End{}) {
			t.Errorf("confined %v: %v", confined, end)
		}
	}
}
