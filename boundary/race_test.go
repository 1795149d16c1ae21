//go:build race

package boundary

func init() { raceEnabled = true }
