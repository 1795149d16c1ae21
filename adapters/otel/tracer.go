package otel

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/meter"
)

// Tracer creates a server span for each call. It is stateless; all methods are safe for concurrent use. A server without
// tracing needs no Tracer.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns a tracer that reports its spans to provider. It reads W3C trace context and baggage.
func NewTracer(provider trace.TracerProvider) *Tracer {
	return &Tracer{tracer: provider.Tracer(scope)}
}

// StartCall starts the span of a call. method is the JSON-RPC method, tool the name in tools/call, otherwise ""; meta is the
// _meta of the request's params, or nil. The span continues the trace in meta ("traceparent", "tracestate", "baggage"). A span
// already in ctx, such as that of the HTTP request, is then linked; without a trace in meta it is the parent.
//
// The handler must run with the returned context. end ends the span, with the error that is sent or nil; if it is not called,
// the span is lost. Only the first call of end counts.
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
	ctx, span := t.start(ctx, title, meta, options)
	return ctx, func(err *candor.Error) {
		if err != nil {
			fail(span, method, "", err)
		}
		span.End()
	}
}

// start starts a span that continues the trace in meta. A span in ctx is then linked, and otherwise the parent.
func (t *Tracer) start(ctx context.Context, name string, meta map[string]any, options []trace.SpanStartOption) (context.Context, trace.Span) {
	ambient := trace.SpanContextFromContext(ctx)
	ctx = remote(ctx, carrier(meta))
	if parent := trace.SpanContextFromContext(ctx); ambient.IsValid() && !parent.Equal(ambient) {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: ambient}))
	}
	return t.tracer.Start(ctx, name, options...)
}

// remote returns ctx with the trace context and the baggage of a request. It does not use the baggage propagator, because that
// logs every malformed baggage, so that any peer could fill the log.
func remote(ctx context.Context, from carrier) context.Context {
	ctx = propagation.TraceContext{}.Extract(ctx, from)
	if text := from.Get("baggage"); text != "" {
		if bag, err := baggage.Parse(text); err == nil {
			ctx = baggage.ContextWithBaggage(ctx, bag)
		}
	}
	return ctx
}

// errorTypeOf returns the value of error.type in the semantic conventions for MCP: "tool_error" for a failed tool, and otherwise the
// number of the JSON-RPC error. It assumes that the failures of tools are answered as results, except that of an unknown tool.
func errorTypeOf(method string, code candor.Code) string {
	if method == "tools/call" && code != candor.CodeToolNotFound {
		return toolError
	}
	return strconv.Itoa(cmp.Or(code.Info().RPCNumber, candor.CodeInternalError.Info().RPCNumber))
}

const toolError = "tool_error"

// fail records the sent error on a span. The message is redacted and bounded, like all text of an error. The status is Error only if
// the server is at fault, as the semantic conventions ask for spans of servers.
func fail(span trace.Span, method, errorType string, err *candor.Error) {
	code := err.Code()
	if !code.Valid() {
		code = candor.CodeUncodedError
	}
	if errorType == "" {
		errorType = errorTypeOf(method, code)
	}
	switch code.Class() {
	case candor.ClassUnavailable, candor.ClassTimeout, candor.ClassCorrupt, candor.ClassInternal:
		span.SetStatus(codes.Error, err.Message())
	default: // the client has to change something
	}
	span.SetAttributes(append(codeAttributes(code), attrErrorType.String(errorType), attrRef.String(err.Ref()))...)
	if errorType != toolError {
		span.SetAttributes(attrStatus.String(errorType))
	}
	switch code { // span names must have low cardinality: names that the peer invented appear only in attributes
	case candor.CodeMethodNotFound:
		span.SetName("unknown method")
	case candor.CodeToolNotFound:
		span.SetName(method)
	}
}

// carrier reads trace context from the _meta of a request, which comes from a peer: only strings of bounded length count.
type carrier map[string]any

// maxValue is the longest value that is read: the limit of W3C baggage, which is the longest of the three.
const maxValue = 8192

// Get implements [propagation.TextMapCarrier].
func (c carrier) Get(key string) string {
	if text, ok := c[key].(string); ok && len(text) <= maxValue {
		return text
	}
	return ""
}

// Set implements [propagation.TextMapCarrier]. It does nothing, because the request must not be changed.
func (carrier) Set(string, string) {}

// Keys implements [propagation.TextMapCarrier].
func (c carrier) Keys() []string {
	return slices.Collect(maps.Keys(c))
}
