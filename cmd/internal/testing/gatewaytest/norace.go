//go:build !race

package gatewaytest

// Flood is how many notifications R9 asks for.
const Flood = 1_000_000

// Raced says that the race detector is on.
const Raced = false
