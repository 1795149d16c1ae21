package boundary

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// limit returns the time limit of a method, or 0 for no limit. Methods that the SDK answers itself need no limit, and
// subscriptions are endless.
func (g *guard) limit(method string) time.Duration {
	switch method {
	case "initialize", "ping", "server/discover", "subscriptions/listen", "logging/setLevel", statsMethod:
		return 0
	}
	if strings.HasSuffix(method, "/list") {
		return 0
	}
	return g.b.o.Timeout
}

// handlerGrace is how long a handler may still run after its context was cancelled before its call is answered.
const handlerGrace = 50 * time.Millisecond

// run runs a handler with a time limit; 0 means no limit. The context of the handler ends with the limit, and when package serve stops
// the server. If the handler still does not return, run does not wait for it, and its goroutine keeps running.
func (g *guard) run(ctx context.Context, limit time.Duration, next mcp.MethodHandler, method string, req mcp.Request) outcome {
	if limit <= 0 && g.b.stopping == nil {
		result, err := next(ctx, method, req)
		return outcome{result: result, err: err}
	}
	within, cancel := g.b.limited(ctx, limit)
	done := make(chan outcome, 1)
	go func() {
		defer cancel()
		defer func() {
			if v := recover(); v != nil {
				done <- outcome{thrown: thrownError(v)}
			}
		}()
		if p := callOf(req.GetExtra()); p != nil {
			_ = p.await(within, forever) // other calls may have returned large results since the call was admitted
		}
		result, err := next(within, method, req)
		done <- outcome{result: result, err: err}
	}()
	select {
	case out := <-done:
		return out.within(ctx, within)
	case <-within.Done():
	}
	grace := handlerGrace
	if g.b.stops() {
		grace = stopGrace
	}
	select {
	case out := <-done:
		return out.within(ctx, within)
	case <-time.After(grace):
		if g.b.stops() {
			g.b.abandoned.Store(true)
		}
		return outcome{late: true, err: within.Err()}
	}
}

// within returns the outcome of a handler that has returned. It was late if its error is only its deadline.
func (out outcome) within(ctx, within context.Context) outcome {
	if ctx.Err() != nil || !errors.Is(within.Err(), context.DeadlineExceeded) {
		return out
	}
	failed := out.err
	if r, ok := out.result.(*mcp.CallToolResult); ok && failed == nil && r != nil {
		failed = r.GetError()
	}
	if errors.Is(failed, context.DeadlineExceeded) {
		return outcome{late: true, err: context.DeadlineExceeded}
	}
	return out
}

// limited returns the context of a handler.
func (b *Boundary) limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if b.stopping == nil {
		return context.WithTimeout(ctx, limit)
	}
	stoppable, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(b.stopping, cancel)
	within, free := stoppable, cancel
	if limit > 0 {
		within, free = context.WithTimeout(stoppable, limit)
	}
	return within, func() {
		forget()
		free()
		cancel()
	}
}

// stopGrace is how long a handler may still run after package serve has cancelled it, and writeGrace the time to write its answer.
const (
	stopGrace  = 3 * time.Second
	writeGrace = time.Second
)

// serving prepares for a stop by package serve. The returned function releases the context of the handlers.
func (b *Boundary) serving(ctx context.Context) context.CancelFunc {
	b.stopping, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	return b.stop
}

var errHandlerRunning = errors.New("handler still running after the end of the session; abandoned")

// stillRunning returns an error if a handler was still running when the server stopped.
func (b *Boundary) stillRunning() error {
	if b.abandoned.Load() {
		return errHandlerRunning
	}
	return nil
}

// stops reports whether package serve is stopping the server.
func (b *Boundary) stops() bool { return b.stopping != nil && b.stopping.Err() != nil }

// lateError returns the error for a handler that timed out, was cancelled, or was still running when the server stopped. It does not
// say whether the call took effect.
func (g *guard) lateError(out outcome) *candor.Error {
	server := candor.WithOrigin(candor.PartyServer, false)
	switch {
	case g.b.stops():
		return candor.New(candor.CodeUnavailable, "The server stopped before the call had finished.", server,
			candor.WithRetry(candor.NoRetry()), candor.WithSuggestion(contract.CheckEffect))
	case errors.Is(out.err, context.Canceled):
		return candor.From(out.err)
	}
	return candor.New(candor.CodeCallTimeout, "", server, candor.WithDetails(map[string]any{"limitMs": g.b.o.Timeout.Milliseconds()}))
}
