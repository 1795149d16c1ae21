//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// chown gives a file the owner of another one.
func chown(file *os.File, like fs.FileInfo) {
	if s, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(s.Uid), int(s.Gid))
	}
}
