package storage

import (
	"errors"
	"os"
	"syscall"

	"github.com/candor-mcp/candor/internal/durable"
)

// reserveSpace allocates blocks after the end without changing the size. It returns nil if the file system does not
// support that.
func reserveSpace(f *os.File, off, bytes int64) error {
	const keepSize = 0x1 // FALLOC_FL_KEEP_SIZE
	err := durable.Control(f, "fallocate", func(fd int) error { return syscall.Fallocate(fd, keepSize, off, bytes) })
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return nil
	}
	return err
}
