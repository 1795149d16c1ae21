package otlp

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
)

// MetricExporter is a [metric.Exporter] for the kinds of metrics that this program has: sums of integers and histograms. All are
// cumulative.
type MetricExporter struct{ *client }

// NewMetricExporter returns an exporter. It does not connect before the first export.
func NewMetricExporter(s Settings) *MetricExporter { return &MetricExporter{newClient(s)} }

// Temporality implements [metric.Exporter].
func (*MetricExporter) Temporality(kind metric.InstrumentKind) metricdata.Temporality {
	return metric.DefaultTemporalitySelector(kind)
}

// Aggregation implements [metric.Exporter].
func (*MetricExporter) Aggregation(kind metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(kind)
}

// Export implements [metric.Exporter].
func (e *MetricExporter) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	group := &metricspb.ResourceMetrics{Resource: resourceOf(all.Resource)}
	for _, scope := range all.ScopeMetrics {
		out := &metricspb.ScopeMetrics{Scope: scopeOf(scope.Scope)}
		for _, m := range scope.Metrics {
			converted, err := metricOf(m)
			if err != nil {
				return err
			}
			out.Metrics = append(out.Metrics, converted)
		}
		group.ScopeMetrics = append(group.ScopeMetrics, out)
	}
	var response collectorpb.ExportMetricsServiceResponse
	if err := e.post(ctx, &collectorpb.ExportMetricsServiceRequest{ResourceMetrics: []*metricspb.ResourceMetrics{group}}, &response); err != nil {
		return err
	}
	return rejected(response.GetPartialSuccess().GetRejectedDataPoints(), response.GetPartialSuccess().GetErrorMessage())
}

const cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

func metricOf(m metricdata.Metrics) (*metricspb.Metric, error) {
	out := &metricspb.Metric{Name: m.Name, Description: m.Description, Unit: m.Unit}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		sum := &metricspb.Sum{AggregationTemporality: cumulative, IsMonotonic: data.IsMonotonic}
		for _, p := range data.DataPoints {
			sum.DataPoints = append(sum.DataPoints, &metricspb.NumberDataPoint{
				Attributes: attributes(p.Attributes.ToSlice()), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time),
				Value: &metricspb.NumberDataPoint_AsInt{AsInt: p.Value},
			})
		}
		out.Data = &metricspb.Metric_Sum{Sum: sum}
	case metricdata.Histogram[float64]:
		histogram := &metricspb.Histogram{AggregationTemporality: cumulative}
		for _, p := range data.DataPoints {
			histogram.DataPoints = append(histogram.DataPoints, &metricspb.HistogramDataPoint{
				Attributes: attributes(p.Attributes.ToSlice()), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time),
				Count: p.Count, Sum: &p.Sum, BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds,
			})
		}
		out.Data = &metricspb.Metric_Histogram{Histogram: histogram}
	default:
		return nil, fmt.Errorf("exporting %s: unsupported data %T", m.Name, m.Data)
	}
	return out, nil
}
