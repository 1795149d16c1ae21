//go:build race

package gatewaytest

// Flood is how many notifications are sent where each takes ten times as long.
const Flood = 100_000

// Raced says that the race detector is on.
const Raced = true
