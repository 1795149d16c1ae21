//go:build darwin || linux

package doctor

import "golang.org/x/sys/unix"

// FreeBytes returns the space that is left for this process on the disk of a folder.
func FreeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // a block size
}
