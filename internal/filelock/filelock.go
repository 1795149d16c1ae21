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
