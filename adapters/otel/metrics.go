// Package otel exports a [meter.Meter] to OpenTelemetry, and creates a span for each call.
//
// [Register] makes the counters of a meter available to a meter provider, which reads them on demand. [NewTracer] returns a value for the
// Tracer field of the options of package boundary. docs/meter.md lists the names of metrics and attributes.
//
// Names follow the semantic conventions for MCP where those define one. The conventions are still in development, so names may
// change. Other names begin with candor.
package otel

import (
	"context"
	"fmt"
	"math"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/meter"
)

// scope is the instrumentation scope of this package.
const scope = "github.com/candor-mcp/candor/adapters/otel"

// The names of the metrics.
const (
	metricErrors     = "mcp.server.errors"        // by symbol, domain, class, tool and verdict
	metricTotal      = "candor.errors.all"        // without attributes; exact even if breakdowns are sampled
	metricSuppressed = "candor.errors.suppressed" // counted, but not sent; included in the total
	metricSuspected  = "candor.errors.suspected"  // only suspected, and passed on unchanged; included in the suppressed
	metricUnrecorded = "candor.errors.unrecorded" // sent, but not recorded; not included in the total
)

// The attributes.
const (
	attrErrorType = attribute.Key("error.type") // as in the semantic conventions, see errorTypeOf
	attrStatus    = attribute.Key("rpc.response.status_code")
	attrCode      = attribute.Key("candor.code") // the symbol of the code
	attrTool      = attribute.Key("gen_ai.tool.name")
	attrMethod    = attribute.Key("mcp.method.name")
	attrOperation = attribute.Key("gen_ai.operation.name")
	attrDomain    = attribute.Key("candor.domain")
	attrClass     = attribute.Key("candor.class")
	attrVerdict   = attribute.Key("candor.verdict")
	attrRef       = attribute.Key("candor.ref")
)

// Register makes the counters of a meter observable. They are read whenever the provider collects, and nothing is counted
// twice. Call Unregister on the result to stop.
func Register(m *meter.Meter, provider metric.MeterProvider) (metric.Registration, error) {
	in := instruments{meter: m}
	source := provider.Meter(scope)
	for _, want := range []struct {
		at         *metric.Int64ObservableCounter
		name, says string
	}{
		{&in.errors, metricErrors, "Failures by code, tool and verdict."},
		{&in.total, metricTotal, "Failures since the process started. Exact, also when breakdowns are sampled."},
		{&in.suppressed, metricSuppressed, "Failures that were counted but not sent."},
		{&in.suspected, metricSuspected, "Answers that look like failures and were passed on as they are."},
		{&in.unrecorded, metricUnrecorded, "Failures that were sent but could not be recorded."},
	} {
		counter, err := source.Int64ObservableCounter(want.name, metric.WithDescription(want.says), metric.WithUnit("{error}"))
		if err != nil {
			return nil, fmt.Errorf("registering %s: %w", want.name, err)
		}
		*want.at = counter
	}
	registration, err := source.RegisterCallback(in.observe, in.errors, in.total, in.suppressed, in.suspected, in.unrecorded)
	if err != nil {
		return nil, fmt.Errorf("registering counters: %w", err)
	}
	return registration, nil
}

type instruments struct {
	meter                                            *meter.Meter
	errors, total, suppressed, suspected, unrecorded metric.Int64ObservableCounter
}

// observe reports one snapshot, so that the numbers of one collection agree.
func (in *instruments) observe(_ context.Context, observer metric.Observer) error {
	s := in.meter.Snapshot()
	for _, row := range s.Series {
		attributes := append(codeAttributes(row.Code), attrVerdict.String(row.Verdict))
		if row.Tool != "none" {
			attributes = append(attributes, attrTool.String(row.Tool))
		}
		observer.ObserveInt64(in.errors, toInt64(row.Count), metric.WithAttributes(attributes...))
	}
	observer.ObserveInt64(in.total, toInt64(s.Total))
	observer.ObserveInt64(in.suppressed, toInt64(s.Suppressed))
	observer.ObserveInt64(in.suspected, toInt64(s.Suspected))
	for _, row := range s.Unrecorded {
		observer.ObserveInt64(in.unrecorded, toInt64(row.Count), metric.WithAttributes(attrCode.String(row.Code.Symbol())))
	}
	return nil
}

func codeAttributes(c candor.Code) []attribute.KeyValue {
	return []attribute.KeyValue{
		attrCode.String(c.Symbol()), attrDomain.String(c.Domain()), attrClass.String(string(c.Class())),
	}
}

func toInt64(n uint64) int64 { return int64(min(n, math.MaxInt64)) } //nolint:gosec // it is bounded
