package telemetry

import (
	"context"
	"errors"
	"sync/atomic"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/candor-mcp/candor/cmd/internal/telemetry/otlp"
)

// queue counts the spans or log records that wait for export, and drops new ones while there are too many. The batch processors of
// the SDK drop too, but do not say how many; with a queue in front that is as large as theirs, they never do.
type queue struct {
	limit   int64
	pending atomic.Int64
	dropped atomic.Uint64 // did not fit, or the receiver did not take them
}

// admit reserves a place. It never blocks.
func (q *queue) admit() bool {
	if q.pending.Add(1) > q.limit {
		q.pending.Add(-1)
		q.dropped.Add(1)
		return false
	}
	return true
}

// done releases the places of an exported batch, and counts those that were lost.
func (q *queue) done(n int, err error) {
	q.pending.Add(-int64(n))
	if rejected, ok := errors.AsType[*otlp.RejectedError](err); ok {
		n = int(min(int64(n), rejected.Count))
	}
	if err != nil {
		q.dropped.Add(uint64(n)) //nolint:gosec // a length
	}
}

// lost returns the items that were dropped, and after the end those that are still waiting.
func (q *queue) lost(ended bool) uint64 {
	n := q.dropped.Load()
	if ended {
		n += uint64(max(0, q.pending.Load())) //nolint:gosec // not negative
	}
	return n
}

// spanQueue is a queue in front of a span processor, and around its exporter.
type spanQueue struct {
	sdktrace.SpanProcessor
	*queue
}

// OnEnd implements [sdktrace.SpanProcessor].
func (q spanQueue) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() && q.admit() {
		q.SpanProcessor.OnEnd(s)
	}
}

type spanExporter struct {
	sdktrace.SpanExporter
	*queue
}

// ExportSpans implements [sdktrace.SpanExporter].
func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.done(len(spans), err)
	return err
}

// logQueue is a queue in front of a log processor, and around its exporter.
type logQueue struct {
	sdklog.Processor
	*queue
}

// OnEmit implements [sdklog.Processor].
func (q logQueue) OnEmit(ctx context.Context, r *sdklog.Record) error {
	if !q.admit() {
		return nil
	}
	return q.Processor.OnEmit(ctx, r)
}

type logExporter struct {
	sdklog.Exporter
	*queue
}

// Export implements [sdklog.Exporter].
func (e logExporter) Export(ctx context.Context, records []sdklog.Record) error {
	err := e.Exporter.Export(ctx, records)
	e.done(len(records), err)
	return err
}
