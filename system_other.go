//go:build !windows

package candor

// systemErrnos is empty: the constants of package syscall are the numbers that this system returns.
var systemErrnos []namedErrno

func isSystemGone(error) bool { return false }
func isSystemFull(error) bool { return false }
