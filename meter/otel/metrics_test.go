package meterotel_test

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kg"
	"github.com/candor-mcp/candor/meter"
	meterotel "github.com/candor-mcp/candor/meter/otel"
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
			{meterotel.MetricErrors, "candor.class=unavailable,candor.domain=kg,candor.verdict=tool,error.type=E_KG_FULL,gen_ai.tool.name=kg/add"}: 1,
			{meterotel.MetricErrors, "candor.class=internal,candor.domain=candor,candor.verdict=malformed,error.type=UNCODED_ERROR"}:               1,
			{meterotel.MetricTotal, ""}:                                 2,
			{meterotel.MetricSuppressed, ""}:                            1,
			{meterotel.MetricSuspected, ""}:                             1,
			{meterotel.MetricUnrecorded, "error.type=AUDIT_LOG_FAILED"}: 1,
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
