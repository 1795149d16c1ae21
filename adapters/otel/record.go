package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/meter"
)

// The attributes of a call that was forwarded.
const (
	attrServer    = attribute.Key("candor.server")
	attrOutcome   = attribute.Key("candor.outcome")
	attrAttempts  = attribute.Key("candor.attempts")
	attrSuspected = attribute.Key("candor.suspected") // the symbol of a suspected failure
	attrSession   = attribute.Key("mcp.session.id")
	attrRequestID = attribute.Key("jsonrpc.request.id")
	attrTransport = attribute.Key("network.transport")
)

// Call describes a call that has ended, as a gateway sees it. Empty fields are omitted.
type Call struct {
	Method    string         // "" for a failure that belongs to no call
	Tool      string         // for tools/call
	Server    string         // the name of the server that was called
	Session   string         // the MCP session
	RequestID string         // the id in the request, as JSON
	Transport string         // "pipe" or "tcp"
	Meta      map[string]any // the _meta of the request's params, for the trace context; may be nil
	Began     time.Time
	Ended     time.Time
	Attempts  int    // how often it was sent; 1 is omitted
	Outcome   string // success, the verdict on the failure, or suspected
	Error     *candor.Error
	ErrorType string // "tool_error" or the number of the JSON-RPC error that was sent; if empty, the method decides
	Suspected bool   // Error is only suspected, and the answer was passed on
}

// RecordCall creates the span of a call that has ended. Like that of [Tracer.StartCall], it continues the trace in Meta; a span in
// ctx is then linked, and otherwise the parent. The result is ctx with the new span, for log records about the call.
func (t *Tracer) RecordCall(ctx context.Context, c *Call) context.Context {
	method, tool := meter.Label(c.Method), meter.Label(c.Tool)
	if method == "" {
		method = "unknown method" // it belongs to no call, or cannot be read
	}
	all := []attribute.KeyValue{attrMethod.String(method)}
	add := func(key attribute.Key, value string) {
		if value != "" {
			all = append(all, key.String(meter.Label(value)))
		}
	}
	if tool != "" {
		all = append(all, attrTool.String(tool), attrOperation.String("execute_tool"))
	}
	add(attrServer, c.Server)
	add(attrSession, c.Session)
	add(attrRequestID, c.RequestID)
	add(attrTransport, c.Transport)
	add(attrOutcome, c.Outcome)
	if c.Attempts > 1 {
		all = append(all, attrAttempts.Int(c.Attempts))
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(c.Began), trace.WithAttributes(all...)}
	name := method
	if tool != "" {
		name += " " + tool
	}
	ctx, span := t.start(ctx, name, c.Meta, options)
	switch {
	case c.Error == nil:
	case c.Suspected:
		span.SetAttributes(attrSuspected.String(c.Error.Code().Symbol()), attrRef.String(c.Error.Ref()))
	default:
		fail(span, method, c.ErrorType, c.Error)
	}
	span.End(trace.WithTimestamp(c.Ended))
	return ctx
}
