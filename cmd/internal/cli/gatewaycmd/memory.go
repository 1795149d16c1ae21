package gatewaycmd

import (
	"math"
	"runtime"
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

// heapFloor is the size of an allocation that is never touched, so that it uses address space but no memory. The live heap of a
// gateway is one or two megabytes, and each call makes some kilobytes of garbage: the collector would run thirty times a second. With
// the floor it runs only when the heap has reached twice this size.
const heapFloor = 8 << 20

// raiseHeap allocates the floor until restore is called.
func raiseHeap() (restore func()) {
	floor := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(floor) }
}
