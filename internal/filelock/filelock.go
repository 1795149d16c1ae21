// Package filelock opens files with an exclusive lock that holds across processes. The operating system releases the
// lock when its holder exits.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrLocked means that another open file holds the lock.
var ErrLocked = errors.New("locked by another open file")

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

// Wait is [Open], but tries again while another open file holds the lock: until wait has passed, when the error is
// [ErrLocked], or until ctx ends, when it is the error of ctx.
func Wait(ctx context.Context, root *os.Root, name string, wait time.Duration) (*os.File, error) {
	end := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		f, err := Open(root, name)
		if !errors.Is(err, ErrLocked) || !time.Now().Before(end) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}
