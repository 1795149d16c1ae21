package boundary

import (
	"context"
	"log/slog"
	"path"
	"runtime"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
)

// A stack always goes to the ledger and the log; the dialects write it only if [Options.Stack] says so.

const maxFrames = 64

// panicStack returns the stack of a panic, without the frames of the harness. Call it in the deferred function that has recovered.
func panicStack() string {
	var pcs [maxFrames]uintptr
	return candor.StackPolicy{Debug: true}.Frames(pcs[:runtime.Callers(3, pcs[:])])
}

// withFound adds the stack of a panic to an error that has none.
func withFound(e *candor.Error, stack string) *candor.Error {
	if stack == "" || e.Stack() != "" {
		return e
	}
	return e.With(candor.WithStack(stack))
}

// withStack adds a stack to a failure that has none, for DEBUG_STACK: where the boundary has found it. The handler has returned by then, so
// these are mostly frames of the harness.
func (b *Boundary) withStack(e *candor.Error) *candor.Error {
	if !b.o.Stack.Debug || e.Stack() != "" || b.o.Dialect.Carrier() == dialect.CarrierRPCError {
		return e
	}
	var pcs [maxFrames]uintptr
	found := pcs[:runtime.Callers(2, pcs[:])]
	stack := b.o.Stack.Frames(found)
	if stack == "" {
		stack = allFrames(found)
	}
	return e.With(candor.WithStack(stack))
}

// allFrames formats frames as [candor.StackPolicy.Frames] does, those of the harness included.
func allFrames(pcs []uintptr) string {
	var lines []string
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" {
			lines = append(lines, path.Base(f.Function)+" ("+path.Base(f.File)+":"+strconv.Itoa(f.Line)+")")
		}
		if !more {
			return strings.Join(lines, "\n")
		}
	}
}

// logStack logs a failure that has a stack, such as a panic.
func (b *Boundary) logStack(ctx context.Context, e *candor.Error) {
	if e.Stack() == "" {
		return
	}
	b.o.Logger.ErrorContext(ctx, "call failed with a stack", slog.String("code", e.Code().String()), slog.String("tool", e.CallInfo().Tool),
		slog.String("ref", e.Ref()), slog.String("cause", e.Cause().Message), slog.String("stack", e.Stack()))
}
