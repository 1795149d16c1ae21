package gatewaycmd

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestLimitMemoryRespectsGOMEMLIMIT(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	restore := limitMemory()
	if got := debug.SetMemoryLimit(-1); got != memoryLimit {
		t.Errorf("limit: %d", got)
	}
	restore()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("limit after restore: %d", got)
	}
	debug.SetMemoryLimit(1 << 30)
	limitMemory()()
	if got := debug.SetMemoryLimit(-1); got != 1<<30 {
		t.Errorf("GOMEMLIMIT was replaced by %d", got)
	}
}

func TestLimitForLeavesSpaceForGarbage(t *testing.T) {
	if got := limitFor(8 << 20); got != memoryLimit {
		t.Errorf("%d", got)
	}
	if got := limitFor(400 << 20); got != 516<<20 {
		t.Errorf("%d", got)
	}
	if memoryInUse() == 0 {
		t.Error("memory in use is 0")
	}
}
