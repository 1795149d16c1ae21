package boundary

import (
	"context"
	"log/slog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/record"
)

// The logger, the meter and the tracer are code of the server. If one of them panics, its data is lost, but the answer is sent.

// recoveringHandler is a [slog.Handler] that recovers the panics of the handler it wraps.
type recoveringHandler struct{ slog.Handler }

// recoveringLogger returns a logger that does not panic.
func recoveringLogger(l *slog.Logger) *slog.Logger {
	if _, done := l.Handler().(recoveringHandler); done {
		return l
	}
	return slog.New(recoveringHandler{l.Handler()})
}

// Enabled implements [slog.Handler].
func (h recoveringHandler) Enabled(ctx context.Context, level slog.Level) (on bool) {
	defer func() { _ = recover() }() // a panic of the log handler cannot be logged
	return h.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h recoveringHandler) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }() // a panic of the log handler cannot be logged
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h recoveringHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return recoveringHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h recoveringHandler) WithGroup(name string) slog.Handler {
	return recoveringHandler{h.Handler.WithGroup(name)}
}

// startCall calls the tracer at the start of a call.
func (b *Boundary) startCall(ctx context.Context, method, tool string, meta map[string]any) (within context.Context, end func(*candor.Error)) {
	within, end = ctx, func(*candor.Error) {}
	defer b.recoverObserver(ctx, "tracer")
	traced, ended := b.o.Tracer.StartCall(ctx, method, tool, meta)
	if traced != nil {
		within = traced
	}
	if ended != nil {
		end = func(e *candor.Error) {
			defer b.recoverObserver(ctx, "tracer")
			ended(e)
		}
	}
	return within, end
}

// recoveringMeter calls the meter of a boundary, if there is one, and recovers its panics.
type recoveringMeter struct{ b *Boundary }

// with calls f with the meter, if there is one.
func (m recoveringMeter) with(f func(candor.Meter)) {
	if m.b.o.Meter != nil {
		defer m.b.recoverObserver(context.Background(), "meter")
		f(m.b.o.Meter)
	}
}

// Count implements [candor.Meter].
func (m recoveringMeter) Count(e *candor.Error, verdict string) {
	m.with(func(meter candor.Meter) { meter.Count(e, verdict) })
}

// CountSuppressed implements [candor.Meter].
func (m recoveringMeter) CountSuppressed() { m.with(candor.Meter.CountSuppressed) }

// CountUnrecorded implements [candor.Meter].
func (m recoveringMeter) CountUnrecorded(e *candor.Error) {
	m.with(func(meter candor.Meter) { meter.CountUnrecorded(e) })
}

// CountSuspected calls the meter if it counts suspected failures.
func (m recoveringMeter) CountSuspected() {
	m.with(func(meter candor.Meter) {
		if suspects, ok := meter.(record.SuspectMeter); ok {
			suspects.CountSuspected()
		}
	})
}

// recoverObserver recovers and logs a panic of an observer. It must be deferred.
func (b *Boundary) recoverObserver(ctx context.Context, observer string) {
	if v := recover(); v != nil {
		b.o.Logger.ErrorContext(ctx, "an observer panicked", slog.String("observer", observer))
	}
}
