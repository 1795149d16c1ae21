//go:build race

package gatewaytest

// Flood is smaller with the race detector, because each notification takes ten times as long.
const Flood = 100_000

// Raced reports whether the race detector is enabled.
const Raced = true
