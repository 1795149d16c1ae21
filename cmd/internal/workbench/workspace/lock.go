package workspace

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/candor-mcp/candor"
)

// lockFile is the lock file in the state folder.
const lockFile = "changes.lock"

var errBusy = errors.New("another process holds the lock")

// Lock acquires the lock of the workspace that the state folder belongs to. It must be held from [Folder.Stage] to
// [Staged.Done], and during [Recover]. Lock waits at most for wait; then the error is AUDIT_LOCK_FAILED, the KAIZA code
// for a lock with a live owner. If ctx ends first, the error is CANCELLED or TIMEOUT. The system releases the lock when
// its owner exits. Two Locks in one process also exclude each other.
func Lock(ctx context.Context, state *os.Root, wait time.Duration) (release func() error, err error) {
	file, err := LockFile(ctx, state, wait)
	if err != nil {
		return nil, err
	}
	return file.Close, nil
}

// LockFile is like [Lock] but returns the locked file; closing it releases the lock. A process that inherits the file
// keeps the lock until it exits.
func LockFile(ctx context.Context, state *os.Root, wait time.Duration) (*os.File, error) {
	file, err := state.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, lockFailed("The lock of the workspace could not be opened.", err)
	}
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err = tryLock(file)
		if err == nil {
			return file, nil
		}
		left := time.Until(deadline)
		if !errors.Is(err, errBusy) || left <= 0 || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(pause, left)):
		}
	}
	err = errors.Join(err, file.Close())
	if ctx.Err() != nil {
		return nil, candor.From(ctx.Err())
	}
	return nil, lockFailed("Another call is changing this workspace.", err)
}

func lockFailed(message string, cause error) error {
	return candor.New(candor.CodeLedgerLocked, message, candor.WithCause(cause))
}
