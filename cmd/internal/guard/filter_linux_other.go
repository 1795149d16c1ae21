//go:build linux && !amd64 && !portableguard

package guard

var refusedHere []uint32
