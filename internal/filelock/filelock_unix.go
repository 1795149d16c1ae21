//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Open opens a file below root, which is made if it does not exist, and locks it. The lock belongs to this opening: a second one, by the
// same process too, fails with [ErrLocked]. Closing the file releases it.
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

// TryLock locks an open file as [Open] does. It does not wait: it fails with [ErrLocked] while another opening holds the lock.
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
