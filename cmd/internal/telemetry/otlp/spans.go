package otlp

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// SpanExporter is a [sdktrace.SpanExporter].
type SpanExporter struct{ client *client }

// NewSpanExporter returns an exporter. It does not connect before the first export.
func NewSpanExporter(s Settings) *SpanExporter { return &SpanExporter{newClient(s)} }

// ExportSpans implements [sdktrace.SpanExporter].
func (e *SpanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	group := &tracepb.ResourceSpans{Resource: resourceOf(spans[0].Resource())} // one provider has one resource
	scopes := map[instrumentation.Scope]*tracepb.ScopeSpans{}
	for _, s := range spans {
		scope := scopes[s.InstrumentationScope()]
		if scope == nil {
			scope = &tracepb.ScopeSpans{Scope: scopeOf(s.InstrumentationScope())}
			scopes[s.InstrumentationScope()] = scope
			group.ScopeSpans = append(group.ScopeSpans, scope)
		}
		scope.Spans = append(scope.Spans, spanOf(s))
	}
	var response collectorpb.ExportTraceServiceResponse
	if err := e.client.post(ctx, &collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{group}}, &response); err != nil {
		return err
	}
	return rejected(response.GetPartialSuccess().GetRejectedSpans(), response.GetPartialSuccess().GetErrorMessage())
}

// Shutdown implements [sdktrace.SpanExporter].
func (e *SpanExporter) Shutdown(context.Context) error {
	e.client.close()
	return nil
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

func spanOf(s sdktrace.ReadOnlySpan) *tracepb.Span {
	own, parent := s.SpanContext(), s.Parent()
	id, trace := own.SpanID(), own.TraceID()
	out := &tracepb.Span{
		TraceId: trace[:], SpanId: id[:], TraceState: own.TraceState().String(), Flags: flags(own, parent),
		Name: s.Name(), Kind: kindOf(s.SpanKind()), StartTimeUnixNano: nanos(s.StartTime()), EndTimeUnixNano: nanos(s.EndTime()),
		Attributes: attributes(s.Attributes()), DroppedAttributesCount: uint32(max(0, s.DroppedAttributes())), //nolint:gosec // not negative
		Status: statusOf(s.Status()),
	}
	if p := parent.SpanID(); p.IsValid() {
		out.ParentSpanId = p[:]
	}
	for _, link := range s.Links() {
		id, trace := link.SpanContext.SpanID(), link.SpanContext.TraceID()
		out.Links = append(out.Links, &tracepb.Span_Link{
			TraceId: trace[:], SpanId: id[:], TraceState: link.SpanContext.TraceState().String(),
			Flags: flags(link.SpanContext, link.SpanContext), Attributes: attributes(link.Attributes),
		})
	}
	return out
}

func kindOf(k trace.SpanKind) tracepb.Span_SpanKind {
	switch k {
	case trace.SpanKindServer:
		return tracepb.Span_SPAN_KIND_SERVER
	case trace.SpanKindClient:
		return tracepb.Span_SPAN_KIND_CLIENT
	default:
		return tracepb.Span_SPAN_KIND_INTERNAL
	}
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
