package durable

import (
	"errors"
	"os"
	"syscall"
)

// SyncData makes the content and the size of a file durable. Unlike [os.File.Sync] it does not sync the file times.
func SyncData(f *os.File) error { return Control(f, "fdatasync", syscall.Fdatasync) }

// Control runs a system call on the descriptor of a file and repeats it after EINTR.
func Control(f *os.File, name string, call func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for failed = syscall.EINTR; errors.Is(failed, syscall.EINTR); {
			failed = call(int(fd))
		}
	})
	if err != nil {
		return err
	}
	return os.NewSyscallError(name, failed)
}
