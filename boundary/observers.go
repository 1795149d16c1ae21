package boundary

import (
	"context"
	"log/slog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/record"
)

// The logger, the meter and the tracer are code of the server. If one of them panics, its data is lost, but the answer is sent.

// calmHandler is a [slog.Handler] that recovers the panics of the handler it wraps.
type calmHandler struct{ slog.Handler }

// calmLogger returns a logger that does not panic.
func calmLogger(l *slog.Logger) *slog.Logger {
	if _, done := l.Handler().(calmHandler); done {
		return l
	}
	return slog.New(calmHandler{l.Handler()})
}

// Enabled implements [slog.Handler].
func (h calmHandler) Enabled(ctx context.Context, level slog.Level) (on bool) {
	defer func() { _ = recover() }() // a panic of the log handler cannot be logged
	return h.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h calmHandler) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }() // a panic of the log handler cannot be logged
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h calmHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calmHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h calmHandler) WithGroup(name string) slog.Handler {
	return calmHandler{h.Handler.WithGroup(name)}
}

// startCall calls the tracer at the start of a call.
func (b *Boundary) startCall(ctx context.Context, method, tool string, meta map[string]any) (within context.Context, end func(*candor.Error)) {
	within, end = ctx, func(*candor.Error) {}
	defer b.survive(ctx, "tracer")
	traced, ended := b.o.Tracer.StartCall(ctx, method, tool, meta)
	if traced != nil {
		within = traced
	}
	if ended != nil {
		end = func(e *candor.Error) {
			defer b.survive(ctx, "tracer")
			ended(e)
		}
	}
	return within, end
}

// calmMeter calls the meter of a boundary, if there is one, and recovers its panics.
type calmMeter struct{ b *Boundary }

// Count implements [candor.Meter].
func (m calmMeter) Count(e *candor.Error, verdict string) {
	if m.b.o.Meter != nil {
		defer m.b.survive(context.Background(), "meter")
		m.b.o.Meter.Count(e, verdict)
	}
}

// CountSuppressed implements [candor.Meter].
func (m calmMeter) CountSuppressed() {
	if m.b.o.Meter != nil {
		defer m.b.survive(context.Background(), "meter")
		m.b.o.Meter.CountSuppressed()
	}
}

// CountSuspected calls the meter if it counts suspected failures.
func (m calmMeter) CountSuspected() {
	if suspects, ok := m.b.o.Meter.(record.SuspectMeter); ok {
		defer m.b.survive(context.Background(), "meter")
		suspects.CountSuspected()
	}
}

// CountUnrecorded implements [candor.Meter].
func (m calmMeter) CountUnrecorded(e *candor.Error) {
	if m.b.o.Meter != nil {
		defer m.b.survive(context.Background(), "meter")
		m.b.o.Meter.CountUnrecorded(e)
	}
}

// survive recovers and logs a panic of an observer. It must be deferred.
func (b *Boundary) survive(ctx context.Context, observer string) {
	if v := recover(); v != nil {
		b.o.Logger.ErrorContext(ctx, "an observer panicked", slog.String("observer", observer))
	}
}
