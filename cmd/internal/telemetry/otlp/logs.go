package otlp

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
)

// LogExporter is a [sdklog.Exporter].
type LogExporter struct{ *client }

// NewLogExporter returns an exporter. It does not connect before the first export.
func NewLogExporter(s Settings) *LogExporter { return &LogExporter{newClient(s)} }

// Export implements [sdklog.Exporter].
func (e *LogExporter) Export(ctx context.Context, records []sdklog.Record) error {
	if len(records) == 0 {
		return nil
	}
	scope := &logspb.ScopeLogs{Scope: scopeOf(records[0].InstrumentationScope())} // all records have one resource and one scope
	for i := range records {
		scope.LogRecords = append(scope.LogRecords, e.recordOf(&records[i]))
	}
	group := &logspb.ResourceLogs{Resource: resourceOf(records[0].Resource()), ScopeLogs: []*logspb.ScopeLogs{scope}}
	var response collectorpb.ExportLogsServiceResponse
	if err := e.post(ctx, &collectorpb.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{group}}, &response); err != nil {
		return err
	}
	return rejected(response.GetPartialSuccess().GetRejectedLogRecords(), response.GetPartialSuccess().GetErrorMessage())
}

func (c *client) recordOf(r *sdklog.Record) *logspb.LogRecord {
	out := &logspb.LogRecord{
		TimeUnixNano: nanos(r.Timestamp()), ObservedTimeUnixNano: nanos(r.ObservedTimestamp()),
		SeverityNumber: logspb.SeverityNumber(r.Severity()), SeverityText: r.SeverityText(), Body: attributeValue(r.Body()), //nolint:gosec // small
		DroppedAttributesCount: uint32(max(0, r.DroppedAttributes())), //nolint:gosec // not negative
		Flags:                  uint32(r.TraceFlags()), EventName: r.EventName(),
	}
	if id := r.TraceID(); id.IsValid() {
		out.TraceId = c.id(id[:])
	}
	if id := r.SpanID(); id.IsValid() {
		out.SpanId = c.id(id[:])
	}
	r.WalkAttributes(func(a attribute.KeyValue) bool {
		out.Attributes = append(out.Attributes, &commonpb.KeyValue{Key: string(a.Key), Value: attributeValue(a.Value)})
		return true
	})
	return out
}
