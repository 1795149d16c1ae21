package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otellog "go.opentelemetry.io/otel/log"

	"github.com/candor-mcp/candor"
)

// Handler returns a handler that passes records to next, and exports those of level info and above. Without logs to export it
// returns next.
func (e *Export) Handler(next slog.Handler) slog.Handler {
	if e == nil || e.logs == nil {
		return next
	}
	return logHandler{export: e, next: next}
}

// logHandler is a [slog.Handler] that also exports records.
type logHandler struct {
	export *Export
	next   slog.Handler
	prefix string // of the open groups
	attrs  []attribute.KeyValue
}

// Enabled implements [slog.Handler].
func (h logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h logHandler) Handle(ctx context.Context, r slog.Record) error { //nolint:gocritic // the signature of slog
	if r.Level >= slog.LevelInfo {
		out := newRecord(r.Time, r.Level, r.Message)
		out.AddAttributes(h.attrs...)
		r.Attrs(func(a slog.Attr) bool {
			out.AddAttributes(logAttribute(h.prefix, a)...)
			return true
		})
		h.export.records.Emit(ctx, out)
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.next = h.next.WithAttrs(attrs)
	h.attrs = h.attrs[:len(h.attrs):len(h.attrs)]
	for _, a := range attrs {
		h.attrs = append(h.attrs, logAttribute(h.prefix, a)...)
	}
	return h
}

// WithGroup implements [slog.Handler].
func (h logHandler) WithGroup(name string) slog.Handler {
	h.next = h.next.WithGroup(name)
	h.prefix += name + "."
	return h
}

func newRecord(at time.Time, level slog.Level, text string) otellog.Record {
	var r otellog.Record
	r.SetTimestamp(at)
	r.SetObservedTimestamp(at)
	r.SetSeverity(severity(level))
	r.SetSeverityText(level.String())
	r.SetBody(attribute.StringValue(bounded(text)))
	return r
}

// severity converts a level. Both scales have the same steps, from different starts.
func severity(level slog.Level) otellog.Severity {
	return otellog.SeverityInfo + otellog.Severity(level-slog.LevelInfo)
}

// logAttribute converts an attribute. The members of a group get its name as a prefix.
func logAttribute(prefix string, a slog.Attr) []attribute.KeyValue {
	key, v := attribute.Key(prefix+a.Key), a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		if a.Key != "" {
			prefix += a.Key + "."
		}
		var all []attribute.KeyValue
		for _, member := range v.Group() {
			all = append(all, logAttribute(prefix, member)...)
		}
		return all
	case slog.KindBool:
		return []attribute.KeyValue{key.Bool(v.Bool())}
	case slog.KindInt64:
		return []attribute.KeyValue{key.Int64(v.Int64())}
	case slog.KindUint64:
		return []attribute.KeyValue{key.Int64(int64(v.Uint64()))} //nolint:gosec // counts
	case slog.KindFloat64:
		return []attribute.KeyValue{key.Float64(v.Float64())}
	default:
		return []attribute.KeyValue{key.String(bounded(v.String()))}
	}
}

// maxLogText bounds a text in a log record.
const maxLogText = 4 << 10

// bounded returns a text without secrets and control characters, and not too long.
func bounded(text string) string { return candor.Public(text, maxLogText) }
