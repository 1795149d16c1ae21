package gatewaycmd

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

func TestAGatewayLetsGarbageGrowBeforeItIsCollected(t *testing.T) {
	goal := func() uint64 {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	lower := raiseHeap()
	raised := goal()
	lower()
	if usual := goal(); raised < usual+heapFloor {
		t.Errorf("the collector comes at %d bytes with the floor, at %d without", raised, usual)
	}
}
