package gatewaycmd

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/candor-mcp/candor/adapters/prom"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/doctor"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// metric is a metric whose value is read from a T.
type metric[T any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*T) float64
}

// collect sends the present value.
func (m metric[T]) collect(metrics chan<- prometheus.Metric, from *T, labels ...string) {
	metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(from), labels...)
}

// upstreamMetric returns a metric of an upstream other than its failures and durations.
func upstreamMetric(name, help string, kind prometheus.ValueType, of func(*gateway.Health) float64) metric[gateway.Health] {
	return metric[gateway.Health]{prometheus.NewDesc("candor_gateway_"+name, help, []string{"server"}, nil), kind, of}
}

// shippingMetric returns a metric of a ledger that is shipped to a store.
func shippingMetric(name, help string, kind prometheus.ValueType, of func(*ship.Stats) float64) metric[ship.Stats] {
	return metric[ship.Stats]{prometheus.NewDesc("candor_ledger_"+name, help, nil, nil), kind, of}
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

var upstreamMetrics = []metric[gateway.Health]{
	upstreamMetric("calls_total", "Calls of clients, refused ones included.", counter, func(h *gateway.Health) float64 { return float64(h.Calls) }),
	upstreamMetric("open_calls", "Calls in progress.", gauge, func(h *gateway.Health) float64 { return float64(max(0, h.Open)) }),
	upstreamMetric("late_answers_total", "Responses that came after their call had ended, and were dropped.", counter,
		func(h *gateway.Health) float64 { return float64(h.Late) }),
	upstreamMetric("open_breakers", "Circuit breakers that are open: one for a server over HTTP, one per connection for a server on standard input and output.", gauge,
		func(h *gateway.Health) float64 { return float64(h.Breaker.Open) }),
	upstreamMetric("wasted_retries_total", "Calls that repeated a failed call against its retry advice, and failed again or were refused.", counter,
		func(h *gateway.Health) float64 { return float64(h.WastedRetries) }),
	upstreamMetric("restarts_total", "Starts of a server on standard input and output after it had ended.", counter, func(h *gateway.Health) float64 {
		if h.Process == nil {
			return 0
		}
		return float64(h.Process.Restarts)
	}),
}

var (
	buildInfo = prometheus.NewDesc("candor_build_info", "The build of this program. The value is always 1.", []string{"version", "revision", "goversion"}, nil)
	dropped   = prometheus.NewDesc("candor_telemetry_dropped_total", "Spans and log records that were not exported with OTLP.", []string{"signal"}, nil)
	diskFree  = prometheus.NewDesc("candor_ledger_disk_free_bytes", "Space left for this process on the disk of the ledger.", nil, nil)
)

var shippingMetrics = []metric[ship.Stats]{
	shippingMetric("shipped_entries_total", "Ledger entries that this process has appended to the store.", counter, func(s *ship.Stats) float64 { return float64(s.Shipped) }),
	shippingMetric("waiting_entries", "Ledger entries that the store does not have yet.", gauge, func(s *ship.Stats) float64 { return float64(s.Waiting) }),
	shippingMetric("waiting_bytes", "Size of the ledger entries that the store does not have yet.", gauge, func(s *ship.Stats) float64 { return float64(s.Bytes) }),
	shippingMetric("waiting_seconds", "How long the oldest ledger entry waits for the store.", gauge, func(s *ship.Stats) float64 { return s.Oldest.Seconds() }),
	shippingMetric("lost_by_store_total", "Ledger entries that the store had acknowledged and did not have any more.", counter, func(s *ship.Stats) float64 { return float64(s.Lost) }),
	shippingMetric("unshippable_chains", "Chains that differ from their copy in the store, or are damaged, and are not shipped.", gauge,
		func(s *ship.Stats) float64 { return float64(len(s.Problems)) }),
}

// collector reads the metrics of a running gateway, without its failures and durations.
type collector struct{ s *server }

// Describe implements [prometheus.Collector]. It names no metric, because the servers change when the configuration is read again.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]. Retired endpoints of an upstream are included.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	routes := c.s.routes.Load()
	for _, name := range routes.names() {
		h := routes.health(name)
		for _, m := range upstreamMetrics {
			m.collect(metrics, &h, name)
		}
	}
	build := term.ReadBuildInfo()
	metrics <- prometheus.MustNewConstMetric(buildInfo, prometheus.GaugeValue, 1, build.Version, build.Revision, build.Go)
	for signal, n := range c.s.p.Export.Dropped() {
		metrics <- prometheus.MustNewConstMetric(dropped, prometheus.CounterValue, float64(n), signal)
	}
	if c.s.p.Ledger == nil {
		return
	}
	if c.s.p.Ship != nil {
		now := c.s.p.Ship.Stats()
		for _, m := range shippingMetrics {
			m.collect(metrics, &now)
		}
	}
	if free, err := doctor.FreeBytes(c.s.p.Dir); err == nil { // unknown on some systems
		metrics <- prometheus.MustNewConstMetric(diskFree, prometheus.GaugeValue, float64(free))
	}
}

// newRegistry returns the metrics of the gateway: failures, durations, traffic, and the process.
func newRegistry(p *service.Sinks, s *server) (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		prom.NewCollector(p.Counts), p.Calls, collector{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

// metricsPage writes the metrics as text, or in another format that Prometheus asks for. Only the protobuf format has native histograms.
func (s *server) metricsPage(w http.ResponseWriter, r *http.Request) {
	families, err := s.metrics.Gather()
	if err != nil {
		http.Error(w, "metrics could not be written", http.StatusInternalServerError)
		return
	}
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	if strings.HasPrefix(string(format), "text/plain") {
		format = prom.ContentType
	}
	var page bytes.Buffer
	encoder := expfmt.NewEncoder(&page, format)
	for _, family := range families {
		if err == nil {
			err = encoder.Encode(family)
		}
	}
	if closer, ok := encoder.(expfmt.Closer); ok && err == nil {
		err = closer.Close()
	}
	if err != nil {
		http.Error(w, "metrics could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(format))
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(page.Bytes()) // the client may have disconnected
}
