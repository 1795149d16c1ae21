package gatewaycmd

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// memoryLimit is where the collector begins to work harder, instead of letting garbage grow to as much as is in use: a thousand clients
// that ask for much and read slowly would double what the gateway takes. With the program itself it stays below 128 MiB.
const memoryLimit = 96 << 20

// limitMemory puts the limit in force until the function that it returns is called, unless GOMEMLIMIT has set one.
func limitMemory() (lift func()) {
	before := debug.SetMemoryLimit(-1)
	if before != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(memoryLimit)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		keepOffLimit(stop)
	}()
	return func() {
		close(stop)
		<-stopped
		debug.SetMemoryLimit(before)
	}
}

// keepOffLimit raises the limit when what is in use comes near it: more clients than a limit is made for are no reason to collect
// without a pause.
func keepOffLimit(stop <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for limit := int64(memoryLimit); ; {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if next := limitFor(memoryInUse()); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	}
}

// limitFor leaves a quarter of what is in use for garbage, and some for the runtime itself.
func limitFor(inUse uint64) int64 {
	return max(memoryLimit, int64(min(inUse+inUse/4+16<<20, math.MaxInt64))) //nolint:gosec // cut to fit
}

// memoryInUse is what the last collection found to be in use, and the stacks of goroutines.
func memoryInUse() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}
