package otlp

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
)

// LogExporter is a [sdklog.Exporter].
type LogExporter struct{ client *client }

// NewLogExporter returns an exporter. It does not connect before the first export.
func NewLogExporter(s Settings) *LogExporter { return &LogExporter{newClient(s)} }

// Export implements [sdklog.Exporter].
func (e *LogExporter) Export(ctx context.Context, records []sdklog.Record) error {
	if len(records) == 0 {
		return nil
	}
	group := &logspb.ResourceLogs{Resource: resourceOf(records[0].Resource())} // one provider has one resource
	scopes := map[instrumentation.Scope]*logspb.ScopeLogs{}
	for i := range records {
		key := records[i].InstrumentationScope()
		scope := scopes[key]
		if scope == nil {
			scope = &logspb.ScopeLogs{Scope: scopeOf(key)}
			scopes[key] = scope
			group.ScopeLogs = append(group.ScopeLogs, scope)
		}
		scope.LogRecords = append(scope.LogRecords, recordOf(&records[i]))
	}
	var response collectorpb.ExportLogsServiceResponse
	if err := e.client.post(ctx, &collectorpb.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{group}}, &response); err != nil {
		return err
	}
	return rejected(response.GetPartialSuccess().GetRejectedLogRecords(), response.GetPartialSuccess().GetErrorMessage())
}

// ForceFlush implements [sdklog.Exporter]. Nothing is kept.
func (*LogExporter) ForceFlush(context.Context) error { return nil }

// Shutdown implements [sdklog.Exporter].
func (e *LogExporter) Shutdown(context.Context) error {
	e.client.close()
	return nil
}

func recordOf(r *sdklog.Record) *logspb.LogRecord {
	out := &logspb.LogRecord{
		TimeUnixNano: nanos(r.Timestamp()), ObservedTimeUnixNano: nanos(r.ObservedTimestamp()),
		SeverityNumber: logspb.SeverityNumber(r.Severity()), SeverityText: r.SeverityText(), Body: attributeValue(r.Body()), //nolint:gosec // small
		DroppedAttributesCount: uint32(max(0, r.DroppedAttributes())), //nolint:gosec // not negative
		Flags:                  uint32(r.TraceFlags()), EventName: r.EventName(),
	}
	if id := r.TraceID(); id.IsValid() {
		out.TraceId = id[:]
	}
	if id := r.SpanID(); id.IsValid() {
		out.SpanId = id[:]
	}
	r.WalkAttributes(func(a attribute.KeyValue) bool {
		out.Attributes = append(out.Attributes, &commonpb.KeyValue{Key: string(a.Key), Value: attributeValue(a.Value)})
		return true
	})
	return out
}
