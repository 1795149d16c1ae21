package workspace

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/candor-mcp/candor"
)

// lockFile is the file in the state folder whose lock is the right to change the workspace.
const lockFile = "changes.lock"

var errBusy = errors.New("another process holds the lock")

// Lock takes the right to change the workspace that the state folder belongs to, from [Folder.Stage] to [Staged.Done], and for [Recover].
// It waits at most for wait; then the answer is AUDIT_LOCK_FAILED, the code of KAIZA for a lock whose owner is alive. If ctx ends before, the
// answer is CANCELLED or TIMEOUT: there is nothing to try again.
// The system takes the lock back when its owner dies. Two Locks in one process exclude each other too.
func Lock(ctx context.Context, state *os.Root, wait time.Duration) (release func() error, err error) {
	file, err := LockFile(ctx, state, wait)
	if err != nil {
		return nil, err
	}
	return file.Close, nil
}

// LockFile is [Lock] as the file that is locked until it is closed. A process that is given it, too, keeps the lock as long as it lives.
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
