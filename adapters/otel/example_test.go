package otel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/candor-mcp/candor"
	meterotel "github.com/candor-mcp/candor/adapters/otel"
	"github.com/candor-mcp/candor/meter"
)

// Register lets a meter provider read the counters of a meter.
func ExampleRegister() {
	m, err := meter.New(meter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reader := metric.NewManualReader()
	registration, err := meterotel.Register(m, metric.NewMeterProvider(metric.WithReader(reader)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer registration.Unregister() //nolint:errcheck // the program ends
	m.Count(candor.New(candor.CodeNotFound, ""), "tool")
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &collected); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(collected.ScopeMetrics) > 0)
	// Output:
	// true
}

// NewTracer returns a tracer for the options of a boundary: every call gets a span, and a failed call's span carries the error's code.
func ExampleNewTracer() {
	recorder := tracetest.NewSpanRecorder()
	tracer := meterotel.NewTracer(trace.NewTracerProvider(trace.WithSpanProcessor(recorder)))
	_, end := tracer.StartCall(context.Background(), "tools/call", "read", nil)
	end(candor.New(candor.CodeNotFound, ""))
	for _, a := range recorder.Ended()[0].Attributes() {
		if a.Key == "error.type" || a.Key == "candor.code" {
			fmt.Println(a.Key, a.Value.AsString())
		}
	}
	// Unordered output:
	// error.type tool_error
	// candor.code NOT_FOUND
}
