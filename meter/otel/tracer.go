package meterotel

import (
	"context"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/meter"
)

// Tracer makes a server span of each call. It has no state; all methods may be called from any number of goroutines. Who wants no
// spans holds none, which costs nothing.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns a tracer that gives its spans to provider. It reads W3C trace context and baggage.
func NewTracer(provider trace.TracerProvider) *Tracer {
	return &Tracer{tracer: provider.Tracer(scope)}
}

// StartCall starts the span of a call. method is the JSON-RPC method, tool the name in tools/call, else ""; meta is the _meta of
// the request's params, or nil. The span continues the trace that meta names ("traceparent", "tracestate", "baggage"); a span
// that is already in ctx, as of the HTTP request, is then linked, else it is the parent.
//
// The handler runs under the context that is returned. end ends the span, with the error that is sent or nil; without it
// the span is lost. Only the first end counts.
func (t *Tracer) StartCall(ctx context.Context, method, tool string, meta map[string]any) (_ context.Context, end func(*candor.Error)) {
	method, tool = meter.Label(method), meter.Label(tool)
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrMethod.String(method)),
	}
	title := method
	if tool != "" {
		title += " " + tool
		options = append(options, trace.WithAttributes(attrTool.String(tool), attrOperation.String("execute_tool")))
	}
	ambient := trace.SpanContextFromContext(ctx)
	ctx = remote(ctx, carrier(meta))
	if parent := trace.SpanContextFromContext(ctx); ambient.IsValid() && !parent.Equal(ambient) {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: ambient}))
	}
	ctx, span := t.tracer.Start(ctx, title, options...)
	return ctx, func(err *candor.Error) {
		if err != nil {
			fail(span, method, err)
		}
		span.End()
	}
}

// remote returns ctx with the trace context and the baggage of a request. Baggage is not left to its propagator, which writes a line
// to the log for each that is malformed: any peer could fill it.
func remote(ctx context.Context, from carrier) context.Context {
	ctx = propagation.TraceContext{}.Extract(ctx, from)
	if text := from.Get("baggage"); text != "" {
		if bag, err := baggage.Parse(text); err == nil {
			ctx = baggage.ContextWithBaggage(ctx, bag)
		}
	}
	return ctx
}

// fail says on a span what was sent. The message is redacted and bounded, as all text of an error.
func fail(span trace.Span, method string, err *candor.Error) {
	code := err.Code()
	if !code.Valid() {
		code = candor.CodeUncodedError
	}
	span.SetStatus(codes.Error, err.Message())
	span.SetAttributes(append(codeAttributes(code), attrRef.String(err.WireRef()))...)
	switch code { // the names of spans are few: one that the peer made up stays in the attributes
	case candor.CodeMethodNotFound:
		span.SetName("unknown method")
	case candor.CodeToolNotFound:
		span.SetName(method)
	}
}

// carrier reads trace context from the _meta of a request, which comes from a peer: only texts of a bounded length count.
type carrier map[string]any

// maxValue is the longest value that is looked at: the bound of W3C baggage, the longest of the three.
const maxValue = 8192

// Get implements [propagation.TextMapCarrier].
func (c carrier) Get(key string) string {
	if text, ok := c[key].(string); ok && len(text) <= maxValue {
		return text
	}
	return ""
}

// Set implements [propagation.TextMapCarrier]. What was received is not edited.
func (carrier) Set(string, string) {}

// Keys implements [propagation.TextMapCarrier].
func (c carrier) Keys() []string {
	return slices.Collect(maps.Keys(c))
}
