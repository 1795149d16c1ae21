package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// Arguments and results of LockFileEx.
const (
	failImmediately = 1
	exclusive       = 2
	lockViolation   = syscall.Errno(33)
)

// TryLock locks an open file as [Open] does. It does not wait: it returns [ErrLocked] if another open file holds the
// lock.
//
// Locks are mandatory on Windows: others cannot read or write locked bytes. So TryLock locks one byte far after
// the end of any file, and the content stays readable.
func TryLock(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		at := syscall.Overlapped{Offset: 0, OffsetHigh: 0x7fff0000}
		ok, _, errno := lockFileEx.Call(fd, exclusive|failImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at))) //nolint:gosec // the system takes its address
		switch {
		case ok != 0:
		case errors.Is(errno, lockViolation), errors.Is(errno, syscall.ERROR_IO_PENDING):
			failed = ErrLocked
		default:
			failed = os.NewSyscallError("LockFileEx", errno)
		}
	})
	return errors.Join(err, failed)
}
