//go:build !race

package gateway

// flood is how many notifications R9 asks for.
const flood = 1_000_000

// raced says that the race detector is on.
const raced = false
