package gatewaycmd

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// memoryLimit is the soft limit of the garbage collector: without it, a thousand slow readers of large responses would double the
// memory of the gateway. The process stays below 128 MiB.
const memoryLimit = 96 << 20

// limitMemory sets the limit until restore is called, unless GOMEMLIMIT is set.
func limitMemory() (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if before != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(memoryLimit)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		adjustLimit(stop)
	}()
	return func() {
		close(stop)
		<-stopped
		debug.SetMemoryLimit(before)
	}
}

// adjustLimit keeps the limit above the memory in use: at the limit the collector would run continuously.
func adjustLimit(stop <-chan struct{}) {
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

// limitFor returns the limit for a number of bytes in use: a quarter more for garbage, and 16 MiB for the runtime.
func limitFor(inUse uint64) int64 {
	return max(memoryLimit, int64(min(inUse+inUse/4+16<<20, math.MaxInt64))) //nolint:gosec // bounded
}

// memoryInUse returns the live heap of the last collection plus the stacks of goroutines.
func memoryInUse() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}

// gcPercent makes the collector of a small heap run when it has reached 16 MiB. The live heap of a gateway is one or two megabytes, and
// each call makes some kilobytes of garbage: with the default, the collector would run thirty times a second.
const gcPercent = 400
