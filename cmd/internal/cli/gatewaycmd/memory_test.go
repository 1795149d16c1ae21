package gatewaycmd

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestAGatewayHasALimitOfMemoryUnlessTheOperatorSetOne(t *testing.T) {
	own := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(own)
	lift := limitMemory()
	if got := debug.SetMemoryLimit(-1); got != memoryLimit {
		t.Errorf("the limit is %d", got)
	}
	lift()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("the limit that is left is %d", got)
	}
	debug.SetMemoryLimit(1 << 30)
	limitMemory()()
	if got := debug.SetMemoryLimit(-1); got != 1<<30 {
		t.Errorf("the operator's limit became %d", got)
	}
}

func TestTheLimitKeepsItsDistanceFromWhatIsInUse(t *testing.T) {
	if got := limitFor(8 << 20); got != memoryLimit {
		t.Errorf("%d", got)
	}
	if got := limitFor(400 << 20); got != 516<<20 {
		t.Errorf("%d", got)
	}
	if memoryInUse() == 0 {
		t.Error("the runtime tells nothing of what is in use")
	}
}
