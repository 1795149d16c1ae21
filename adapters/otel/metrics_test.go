package otel_test

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/candor-mcp/candor"
	meterotel "github.com/candor-mcp/candor/adapters/otel"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/meter"
)

func TestCollectReadsMeter(t *testing.T) {
	m, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	registration, err := meterotel.Register(m, provider)
	if err != nil {
		t.Fatal(err)
	}
	for round := range int64(3) {
		m.Count(candor.New(kg.Full, "", candor.WithTool("kg/add")), "tool")
		m.Count(nil, "malformed")
		m.CountSuppressed()
		m.CountSuspected()
		m.CountUnrecorded(candor.New(candor.CodeLedgerFailed, ""))
		got := collect(t, reader)
		for point, want := range map[point]int64{
			{"mcp.server.errors", "candor.class=unavailable,candor.code=E_KG_FULL,candor.domain=kg,candor.verdict=tool,gen_ai.tool.name=kg/add"}: 1,
			{"mcp.server.errors", "candor.class=internal,candor.code=UNCODED_ERROR,candor.domain=candor,candor.verdict=malformed"}:               1,
			{"candor.errors.all", ""}:                                    2,
			{"candor.errors.suppressed", ""}:                             1,
			{"candor.errors.suspected", ""}:                              1,
			{"candor.errors.unrecorded", "candor.code=AUDIT_LOG_FAILED"}: 1,
		} {
			if got[point] != want*(round+1) {
				t.Errorf("round %d: %v is %d, want %d; all: %v", round, point, got[point], want*(round+1), got)
			}
		}
		if len(got) != 6 {
			t.Errorf("there are %d points, want 6: %v", len(got), got)
		}
	}
	if err := registration.Unregister(); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("after Unregister there is %v", got)
	}
}

type point struct{ name, attributes string }

func collect(t *testing.T, reader metric.Reader) map[point]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	points := map[point]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok || !sum.IsMonotonic || m.Unit != "{error}" {
				t.Errorf("%s is %T in %q, not a counter of errors", m.Name, m.Data, m.Unit)
				continue
			}
			for _, p := range sum.DataPoints {
				points[point{m.Name, p.Attributes.Encoded(attribute.DefaultEncoder())}] = p.Value
			}
		}
	}
	return points
}
