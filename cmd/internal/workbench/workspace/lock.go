package workspace

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/filelock"
)

// lockFile is the lock file in the state folder.
const lockFile = "changes.lock"

// busyFor is the delay after which a call that found the workspace busy is repeated.
const busyFor = 5 * time.Second

// Lock acquires the lock of the workspace that the state folder belongs to; closing the file releases it. It must be held
// from [Folder.Stage] to [Staged.Done], and during [Recover]. Lock waits at most for wait; then the error is
// AUDIT_LOCK_FAILED, the KAIZA code for a lock with a live owner. If ctx ends first, the error is CANCELLED or TIMEOUT. The
// system releases the lock when its owner exits, and every process that has inherited the file. Two Locks in one process
// also exclude each other.
func Lock(ctx context.Context, state *os.Root, wait time.Duration) (*os.File, error) {
	file, err := filelock.Wait(ctx, state, lockFile, wait)
	switch {
	case err == nil:
		return file, nil
	case ctx.Err() != nil:
		return nil, candor.From(ctx.Err())
	case errors.Is(err, filelock.ErrLocked):
		return nil, candor.New(kaiza.AuditLockFailed, "Another call is changing this workspace, or runs the checks of its change.", candor.WithCause(err),
			candor.WithDetails(map[string]any{"reason": "workspace_busy", "effect": "none"}), candor.WithRetry(candor.RetryIn(busyFor)),
			candor.WithSuggestion("Wait until the other call has ended, which may take as long as the operator's checks, and send the same call again."))
	}
	return nil, candor.New(kaiza.AuditLockFailed, "The lock of the workspace could not be opened.", candor.WithCause(err),
		candor.WithDetails(map[string]any{"reason": "lock_not_opened"}))
}
