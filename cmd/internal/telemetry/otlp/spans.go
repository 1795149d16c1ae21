package otlp

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// SpanExporter is a [sdktrace.SpanExporter].
type SpanExporter struct{ *client }

// NewSpanExporter returns an exporter. It does not connect before the first export.
func NewSpanExporter(s Settings) *SpanExporter { return &SpanExporter{newClient(s)} }

// ExportSpans implements [sdktrace.SpanExporter].
func (e *SpanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	scope := &tracepb.ScopeSpans{Scope: scopeOf(spans[0].InstrumentationScope())} // all spans have one resource and one scope
	for _, s := range spans {
		scope.Spans = append(scope.Spans, e.spanOf(s))
	}
	group := &tracepb.ResourceSpans{Resource: resourceOf(spans[0].Resource()), ScopeSpans: []*tracepb.ScopeSpans{scope}}
	var response collectorpb.ExportTraceServiceResponse
	if err := e.post(ctx, &collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{group}}, &response); err != nil {
		return err
	}
	return rejected(response.GetPartialSuccess().GetRejectedSpans(), response.GetPartialSuccess().GetErrorMessage())
}

// remoteFlags are the bits of the flags that say whether the parent is remote.
const (
	hasRemoteFlag = uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK)
	remoteFlag    = uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
)

func flags(own, other trace.SpanContext) uint32 {
	f := uint32(own.TraceFlags()) | hasRemoteFlag
	if other.IsRemote() {
		f |= remoteFlag
	}
	return f
}

func (c *client) spanOf(s sdktrace.ReadOnlySpan) *tracepb.Span {
	own, parent := s.SpanContext(), s.Parent()
	id, trace := own.SpanID(), own.TraceID()
	out := &tracepb.Span{
		TraceId: c.id(trace[:]), SpanId: c.id(id[:]), TraceState: own.TraceState().String(), Flags: flags(own, parent),
		Name: s.Name(), Kind: tracepb.Span_SpanKind(s.SpanKind()), //nolint:gosec // the kinds of OTLP have the same numbers
		StartTimeUnixNano: nanos(s.StartTime()), EndTimeUnixNano: nanos(s.EndTime()),
		Attributes: attributes(s.Attributes()), DroppedAttributesCount: uint32(max(0, s.DroppedAttributes())), //nolint:gosec // not negative
		Status: statusOf(s.Status()),
	}
	if p := parent.SpanID(); p.IsValid() {
		out.ParentSpanId = c.id(p[:])
	}
	for _, link := range s.Links() {
		id, trace := link.SpanContext.SpanID(), link.SpanContext.TraceID()
		out.Links = append(out.Links, &tracepb.Span_Link{
			TraceId: c.id(trace[:]), SpanId: c.id(id[:]), TraceState: link.SpanContext.TraceState().String(),
			Flags: flags(link.SpanContext, link.SpanContext), Attributes: attributes(link.Attributes),
		})
	}
	return out
}

func statusOf(s sdktrace.Status) *tracepb.Status {
	switch s.Code {
	case codes.Error:
		return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: s.Description}
	case codes.Ok:
		return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_OK}
	default:
		return &tracepb.Status{}
	}
}
