package prom_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	otelapi "go.opentelemetry.io/otel/metric"
	otelsdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/meter"
)

// contestant counts one failure.
type contestant struct {
	name  string
	count func(*candor.Error, string)
}

// BenchmarkCount counts the same failures in several ways, in turns in one run. It reports the median time of each way, and the
// median over the rounds of its time relative to the meter's: ways measured close together see the same noise. Failures come
// from eight tools with eight codes.
func BenchmarkCount(b *testing.B) {
	for _, goroutines := range []int{1, 8} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) { compete(b, goroutines) })
	}
}

func compete(b *testing.B, goroutines int) {
	const perRound, leastRounds = 20_000, 25
	failures := benchFailures()
	all := contestants(b)
	times := make([][]float64, len(all))
	round := func() {
		for i, c := range all {
			start := time.Now()
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					for k := range perRound / goroutines {
						c.count(failures[(k+g)%len(failures)], "tool")
					}
				})
			}
			wg.Wait()
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/perRound)
		}
	}
	for b.Loop() {
		round()
	}
	for len(times[0]) < leastRounds {
		round()
	}
	b.ReportMetric(0, "ns/op") // the time of a round means nothing
	for i, c := range all {
		b.ReportMetric(median(times[i]), c.name+"-ns")
		if i > 0 {
			ratios := make([]float64, len(times[i]))
			for round, taken := range times[i] {
				ratios[round] = taken / times[0][round]
			}
			b.ReportMetric(median(ratios), c.name+"/meter")
		}
	}
}

// contestants returns the meter first, then the baselines.
func contestants(b *testing.B) []contestant {
	b.Helper()
	m, err := meter.New(meter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "errors_total"}, []string{"symbol", "tool", "verdict"})
	provider := otelsdk.NewMeterProvider(otelsdk.WithReader(otelsdk.NewManualReader()))
	counter, err := provider.Meter("bench").Int64Counter("errors")
	if err != nil {
		b.Fatal(err)
	}
	return []contestant{
		{"meter", m.Count},
		{"countervec", func(err *candor.Error, verdict string) {
			vec.WithLabelValues(err.Code().Symbol(), err.CallInfo().Tool, verdict).Inc()
		}},
		{"otel", func(err *candor.Error, verdict string) {
			counter.Add(context.Background(), 1, otelapi.WithAttributes(attribute.String("candor.code", err.Code().Symbol()),
				attribute.String("tool", err.CallInfo().Tool), attribute.String("verdict", verdict)))
		}},
	}
}

func benchFailures() (failures []*candor.Error) {
	for c := range candor.Codes() {
		if len(failures) == 8 {
			break
		}
		failures = append(failures, candor.New(c, "", candor.WithTool(fmt.Sprintf("tool_number_%d", len(failures)))))
	}
	return failures
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
