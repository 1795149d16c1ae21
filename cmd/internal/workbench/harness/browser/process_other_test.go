//go:build !linux

package browser

// launchAndWait is for tests that look at processes in /proc, which only Linux has.
func launchAndWait() { panic("not supported on this system") }
