// Package telemetry measures the calls that a gateway forwards or a server of this program answers: durations for Prometheus, and
// spans, metrics and logs for OTLP.
package telemetry

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/meter"
)

// Buckets are the upper bounds of the classic histograms, in seconds: those of the semantic conventions for MCP, and two for
// servers on the same machine.
var Buckets = []float64{0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// outcomes are the values of the label outcome.
var outcomes = []string{gateway.OutcomeSuccess, "protocol", "tool", "masked", "malformed", "lost", "stray", record.OutcomeSuspected, "other"}

// Calls has the durations of calls by server and outcome. It is a [gateway.Observer] and a [prometheus.Collector].
type Calls struct {
	*prometheus.HistogramVec
	servers labels
}

// NewCalls returns an empty histogram that is both classic and native.
func NewCalls() *Calls {
	return &Calls{
		HistogramVec: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "candor_gateway_call_duration_seconds",
			Help: "Time from a call to its answer, by server and outcome. Refused, lost and cancelled calls are included; servers beyond the bound are other.",
			// The native histogram has a resolution of 10 %, and halves it rather than grow beyond 160 buckets.
			Buckets: Buckets, NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
		}, []string{"server", "outcome"}),
		servers: labels{limit: 200},
	}
}

// CallEnded implements [gateway.Observer].
func (c *Calls) CallEnded(e *gateway.Ending) {
	if !e.IsCall {
		return
	}
	c.WithLabelValues(c.servers.bound(e.Upstream), outcomeLabel(e.Outcome())).Observe(max(0, e.Ended.Sub(e.Began)).Seconds())
}

// outcomeLabel returns an outcome, or "other" if it is not one of [outcomes].
func outcomeLabel(outcome string) string {
	if slices.Contains(outcomes, outcome) {
		return outcome
	}
	return "other"
}

// labels bounds the values of a label: the first names are kept, and later ones become "other".
type labels struct {
	limit int
	mu    sync.Mutex
	names map[string]string // guarded by mu: the label of each name
}

// bound returns the label for a name.
func (l *labels) bound(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if label, known := l.names[name]; known {
		return label
	}
	if len(l.names) >= l.limit {
		return "other"
	}
	if l.names == nil {
		l.names = map[string]string{}
	}
	l.names[name] = meter.Label(name)
	return l.names[name]
}

// Observers notifies several observers, in order.
type Observers []gateway.Observer

// CallEnded implements [gateway.Observer].
func (o Observers) CallEnded(e *gateway.Ending) {
	for _, each := range o {
		each.CallEnded(e)
	}
}
