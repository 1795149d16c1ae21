//go:build race

package gateway

// flood is how many notifications are sent where each takes ten times as long.
const flood = 100_000

// raced says that the race detector is on.
const raced = true
