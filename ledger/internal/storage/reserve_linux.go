package storage

import (
	"errors"
	"os"
	"syscall"
)

// reserveSpace allocates blocks after the end without changing the size. It returns nil if the file system does not
// support that.
func reserveSpace(f *os.File, off, bytes int64) error {
	const keepSize = 0x1 // FALLOC_FL_KEEP_SIZE
	err := control(f, "fallocate", func(fd int) error { return syscall.Fallocate(fd, keepSize, off, bytes) })
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return nil
	}
	return err
}

// control runs a system call on the descriptor and repeats it after EINTR.
func control(f *os.File, name string, call func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for {
			failed = call(int(fd))
			if !errors.Is(failed, syscall.EINTR) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return os.NewSyscallError(name, failed)
}
