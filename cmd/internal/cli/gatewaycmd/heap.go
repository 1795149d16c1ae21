package gatewaycmd

import "runtime"

// heapFloor is kept by a gateway and never touched, so that it costs addresses and no memory. What a gateway keeps for long is a megabyte
// or two, what it throws away with each call some kilobytes: by itself the collector would come thirty times a second, each time for next
// to nothing. With the floor it lets garbage grow to twice this much first, whatever GOGC makes of that.
const heapFloor = 8 << 20

// raiseHeap puts the floor in until the function that it returns is called.
func raiseHeap() (lower func()) {
	floor := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(floor) }
}
