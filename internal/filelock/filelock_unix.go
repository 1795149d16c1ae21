//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Open opens and locks a file below root, which is created if it does not exist. The lock belongs to the returned
// file: a second Open, even by the same process, fails with [ErrLocked]. Closing the file releases the lock.
func Open(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := TryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// TryLock locks an open file as [Open] does. It does not wait: it returns [ErrLocked] if another open file holds the
// lock.
func TryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		}
		return err
	}
}
