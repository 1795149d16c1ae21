//go:build darwin || dragonfly || freebsd || linux

package storage

import "syscall"

// freeSpace returns the space that an unprivileged user may still use.
func freeSpace(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(max(s.Bavail, 0)) * uint64(s.Bsize), nil //nolint:gosec,unconvert // block counts and sizes are not negative; their types differ by system
}
