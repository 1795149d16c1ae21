package boundary

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/usercode"
)

// grace is how long a handler may take to notice that its time is up, before it is left behind.
const grace = 50 * time.Millisecond

// limit returns how long a method may take, 0 for ever. What the SDK answers by itself needs no limit, and a subscription lasts.
func (g *guard) limit(method string) time.Duration {
	switch method {
	case "initialize", "ping", "server/discover", "subscriptions/listen", "logging/setLevel", "tools/list", "prompts/list",
		"resources/list", "resources/templates/list", StatsMethod:
		return 0
	default:
		return g.b.o.Timeout
	}
}

// runFor runs a handler beside a clock. Its context ends with the time; a handler that does not care is left behind, because
// a caller that waits for ever is worse.
func (g *guard) runFor(ctx context.Context, limit time.Duration, next mcp.MethodHandler, method string, req mcp.Request) outcome {
	if limit <= 0 {
		return g.run(ctx, next, method, req)
	}
	within, cancel := context.WithTimeout(ctx, limit)
	done := make(chan outcome, 1)
	go func() {
		out := outcome{thrown: errDeserted}
		defer func() {
			done <- out
			cancel()
		}()
		out = g.run(within, next, method, req)
	}()
	select {
	case out := <-done:
		return out.lateIf(within, ctx)
	case <-within.Done():
	}
	select {
	case out := <-done:
		return out.lateIf(within, ctx)
	case <-time.After(grace):
		return outcome{late: true, err: context.Cause(within)}
	}
}

// lateIf marks an outcome that is only the handler's way to say that its time was up.
func (out outcome) lateIf(within, caller context.Context) outcome {
	if caller.Err() != nil || !errors.Is(within.Err(), context.DeadlineExceeded) {
		return out
	}
	err := out.err
	if r, ok := out.result.(*mcp.CallToolResult); ok && err == nil && r != nil {
		err = r.GetError()
	}
	if isDeadline(err) {
		return outcome{late: true, err: context.DeadlineExceeded}
	}
	return out
}

// isDeadline reports an error that is a deadline, as far as it can be asked.
func isDeadline(err error) bool {
	is := func() bool { return usercode.Finite(err) && errors.Is(err, context.DeadlineExceeded) }
	if usercode.Trusted(err) {
		return is()
	}
	late, failed := usercode.Call(grace, is)
	return late && failed == nil
}

// lateError is what the caller of a handler is told whose time was up, or who called it off.
func (g *guard) lateError(out outcome) *candor.Error {
	if errors.Is(out.err, context.Canceled) {
		return candor.From(out.err)
	}
	return candor.New(candor.CodeCallTimeout, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"limitMs": g.b.o.Timeout.Milliseconds()}))
}

// errDeserted is what a handler is said to have thrown that ended its goroutine.
var errDeserted = errors.New("the handler ended its goroutine without returning")

// unfinished is the failure of a call whose end nobody has seen, for its span.
var unfinished = candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false))
