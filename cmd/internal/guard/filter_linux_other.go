//go:build linux && !amd64

package guard

var refusedHere []uint32
