package dual

import (
	"context"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

// locks serializes the calls of each tool. A call holds only the lock of its own tool, so that calls cannot deadlock.
// router_call holds its lock only while it reads the state of this server, so that a slow upstream does not delay calls
// to another.
type locks struct {
	wait  time.Duration
	tools map[string]chan struct{}
}

func newLocks(wait time.Duration) locks { return locks{wait, map[string]chan struct{}{}} }

// guard returns a function that holds the lock of a tool while it calls run. The lock is released when run returns or
// panics.
func (l *locks) guard(tool string, run func(context.Context, *workbench.Call) (workbench.Reply, error)) func(context.Context, *workbench.Call) (workbench.Reply, error) {
	lock := l.of(tool)
	return func(ctx context.Context, c *workbench.Call) (workbench.Reply, error) {
		if err := l.acquire(ctx, lock, tool); err != nil {
			return workbench.Reply{}, err
		}
		defer func() { <-lock }()
		return run(ctx, c)
	}
}

// of returns the lock of a tool. It is not safe for concurrent use: locks are created before the first call.
func (l *locks) of(tool string) chan struct{} {
	lock := l.tools[tool]
	if lock == nil {
		lock = make(chan struct{}, 1)
		l.tools[tool] = lock
	}
	return lock
}

// part runs a part of a call with the lock of its tool held.
func (l *locks) part(ctx context.Context, tool string, run func() error) error {
	lock := l.tools[tool]
	if err := l.acquire(ctx, lock, tool); err != nil {
		return err
	}
	defer func() { <-lock }()
	return run()
}

func (l *locks) acquire(ctx context.Context, lock chan struct{}, tool string) error {
	select { // the usual case needs no timer
	case lock <- struct{}{}:
		return nil
	default:
	}
	timeout := time.NewTimer(l.wait)
	defer timeout.Stop()
	select {
	case lock <- struct{}{}:
		return nil
	case <-timeout.C:
		return candor.New(dualcode.ToolLockTimeout, "", candor.WithOrigin(candor.PartyServer, false),
			candor.WithDetails(map[string]any{"tool": tool, "waited_ms": l.wait.Milliseconds()}))
	case <-ctx.Done():
		return candor.From(ctx.Err())
	}
}
