//go:build unix

package natsstore

import (
	"io/fs"
	"syscall"
)

// readByOthers reports whether users other than the owner can read a file. A group may read a file of root: only so can Kubernetes give a
// secret to a process that is not root.
func readByOthers(info fs.FileInfo) bool {
	open := info.Mode().Perm() & 0o077
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid == 0 {
		open &^= 0o040
	}
	return open != 0
}
