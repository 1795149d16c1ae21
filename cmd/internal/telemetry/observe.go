package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/candor-mcp/candor"
	meterotel "github.com/candor-mcp/candor/adapters/otel"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// Observer exports the calls of a gateway and writes their failures to a log. It is a [gateway.Observer].
type Observer struct {
	Export *Export      // nil if nothing is exported
	JSON   *slog.Logger // gets a line for each failure; nil if it is not wanted
}

// CallEnded implements [gateway.Observer].
func (o *Observer) CallEnded(e *gateway.Ending) {
	ctx := context.Background()
	if e.Trace.Parent != "" {
		ctx = join(ctx, propagation.MapCarrier{"traceparent": e.Trace.Parent, "tracestate": e.Trace.State})
	}
	o.ended(ctx, e, traceMeta(e.Request))
}

// ended exports a call and writes its failure to the log. The span in ctx is that of the HTTP request; meta is the _meta of the call.
func (o *Observer) ended(ctx context.Context, e *gateway.Ending, meta map[string]any) {
	if o.Export != nil {
		ctx = o.Export.observe(ctx, e, meta)
	}
	if e.Error == nil || e.Unrecorded { // the line about a failure that could not be recorded has its ref
		return
	}
	level, text, attrs := failureRecord(e)
	if o.Export != nil && o.Export.logs != nil {
		o.Export.emit(ctx, e.Ended, level, text, attrs)
	}
	if o.JSON != nil {
		if span := trace.SpanContextFromContext(ctx); span.IsValid() {
			attrs = append(attrs, slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
		}
		o.JSON.LogAttrs(ctx, level, text, attrs...) //nolint:sloglint // one of three constants
	}
}

// failureRecord returns the log line of a failure. All text in it is redacted and bounded.
func failureRecord(e *gateway.Ending) (level slog.Level, text string, attrs []slog.Attr) {
	level, text = slog.LevelWarn, "call failed"
	switch {
	case e.Suspected:
		level, text = slog.LevelInfo, "answer looks like a failure"
	case !e.IsCall:
		text = "failure outside a call"
	}
	err := e.Error
	attrs = []slog.Attr{
		slog.String("ref", err.Ref()), slog.String("code", err.Code().String()), slog.String("class", string(err.Class())),
		slog.String("outcome", e.Outcome()), slog.String("upstream", bounded(e.Upstream)), slog.String("retry", err.Retry().String()),
	}
	for _, a := range []struct{ key, value string }{{"method", e.Method}, {"tool", e.Tool}, {"session", e.Session}, {"reason", err.Message()}} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, bounded(a.value)))
		}
	}
	return level, text, append(attrs, slog.Int("attempts", e.Attempt), slog.Float64("durationMs", float64(e.Ended.Sub(e.Began).Microseconds())/1000))
}

// observe records the span and the duration of a call. It returns ctx with the span.
func (e *Export) observe(ctx context.Context, end *gateway.Ending, meta map[string]any) context.Context {
	if e.tracer != nil {
		ctx = e.span(ctx, end, meta)
	}
	if e.duration != nil && end.IsCall {
		attributes := []attribute.KeyValue{
			attribute.String("mcp.method.name", e.labels.methods.bound(end.Method)),
			attribute.String("candor.server", e.labels.servers.bound(end.Upstream)),
			attribute.String("candor.outcome", outcomeLabel(end.Outcome())),
			attribute.String("network.transport", e.transport),
		}
		if end.Tool != "" {
			attributes = append(attributes, attribute.String("gen_ai.tool.name", e.labels.tools.bound(end.Tool)))
		}
		if end.Error != nil && !end.Suspected {
			attributes = append(attributes, attribute.String("error.type", errorType(end)), attribute.String("candor.code", end.Error.Code().Symbol()))
		}
		e.duration.Record(ctx, max(0, end.Ended.Sub(end.Began)).Seconds(), metric.WithAttributeSet(attribute.NewSet(attributes...)))
	}
	return ctx
}

// join returns ctx with the trace in the headers of an HTTP request.
func join(ctx context.Context, header propagation.TextMapCarrier) context.Context {
	return propagation.TraceContext{}.Extract(ctx, header)
}

// span records the span of a call. It joins the trace in meta, or else that in ctx.
func (e *Export) span(ctx context.Context, end *gateway.Ending, meta map[string]any) context.Context {
	c := &meterotel.Call{
		Method: end.Method, Tool: end.Tool, Server: end.Upstream, Session: end.Session, Transport: e.transport, Meta: meta,
		Began: end.Began, Ended: end.Ended, Attempts: end.Attempt, Outcome: end.Outcome(), Error: end.Error, ErrorType: errorType(end),
		Suspected: end.Suspected,
	}
	if end.Request != nil {
		if id := end.Request.ID(); id != nil && len(id) <= maxID {
			c.RequestID = string(id)
		}
	}
	return e.tracer.RecordCall(ctx, c)
}

// errorType returns the value of error.type for a failed call, from the message that was sent; "" after a success.
func errorType(end *gateway.Ending) string {
	if end.Error == nil {
		return ""
	}
	if end.Sent != nil {
		m := wire.Parse(end.Sent, wire.Limits{})
		for _, e := range []wire.Value{m.Error(), m.Value()} { // a gateway's message, or the envelope of the dialect rpc alone
			if number, ok := e.Path("code").Int64(); ok {
				return strconv.FormatInt(number, 10)
			}
		}
	}
	if end.Method == methodCallTool {
		return "tool_error"
	}
	return strconv.Itoa(cmp.Or(end.Error.Code().Info().RPCNumber, candor.CodeInternalError.Info().RPCNumber))
}

// maxID is the length of the longest request id that becomes an attribute.
const maxID = 64

// traceMeta returns the members of a request's _meta that identify a trace.
func traceMeta(m *wire.Message) map[string]any {
	if len(m.Bytes()) == 0 {
		return nil
	}
	return traceMembers(m.Params().Path("_meta"))
}

// traceMembers returns the members of a _meta that identify a trace.
func traceMembers(meta wire.Value) map[string]any {
	if !meta.Present() {
		return nil
	}
	found := map[string]any{}
	for _, name := range []string{"traceparent", "tracestate", "baggage"} {
		if value, ok := meta.Path(name).Str(); ok {
			found[name] = value
		}
	}
	return found
}

// emit exports a log record.
func (e *Export) emit(ctx context.Context, at time.Time, level slog.Level, text string, attrs []slog.Attr) {
	r := newRecord(at, level, text)
	for _, a := range attrs {
		r.AddAttributes(logAttribute("", a)...)
	}
	e.records.Emit(ctx, r)
}
