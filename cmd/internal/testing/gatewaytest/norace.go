//go:build !race

package gatewaytest

// Flood is the number of notifications that target R9 requires.
const Flood = 1_000_000

// Raced reports whether the race detector is enabled.
const Raced = false
