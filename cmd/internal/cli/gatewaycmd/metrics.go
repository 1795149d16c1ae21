package gatewaycmd

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/doctor"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/meter/prom"
)

// serverMetric is a metric of an upstream other than its failures and durations.
type serverMetric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(totals) uint64
}

func newServerMetric(name, help string, kind prometheus.ValueType, of func(totals) uint64) serverMetric {
	return serverMetric{prometheus.NewDesc(name, help, []string{"server"}, nil), kind, of}
}

var serverMetrics = []serverMetric{
	newServerMetric("candor_gateway_calls_total", "Calls of clients, refused ones included.", prometheus.CounterValue, func(t totals) uint64 { return t.calls }),
	newServerMetric("candor_gateway_open_calls", "Calls in progress.", prometheus.GaugeValue, func(t totals) uint64 { return t.open }),
	newServerMetric("candor_gateway_late_answers_total", "Responses that came after their call had ended, and were dropped.", prometheus.CounterValue, func(t totals) uint64 { return t.late }),
	newServerMetric("candor_gateway_open_breakers", "Circuit breakers that are open: one for a server over HTTP, one per connection for a server on standard input and output.", prometheus.GaugeValue, func(t totals) uint64 { return t.breakers }),
	newServerMetric("candor_gateway_wasted_retries_total", "Calls that repeated a failed call against its retry advice, and failed again or were refused.", prometheus.CounterValue, func(t totals) uint64 { return t.wasted }),
	newServerMetric("candor_gateway_restarts_total", "Starts of a server on standard input and output after it had ended.", prometheus.CounterValue, func(t totals) uint64 { return t.restarts }),
}

var (
	buildInfo = prometheus.NewDesc("candor_build_info", "The build of this program. The value is always 1.", []string{"version", "revision", "goversion"}, nil)
	dropped   = prometheus.NewDesc("candor_telemetry_dropped_total", "Spans and log records that were not exported with OTLP.", []string{"signal"}, nil)
	diskFree  = prometheus.NewDesc("candor_ledger_disk_free_bytes", "Space left for this process on the disk of the ledger.", nil, nil)
)

// shippingMetric is a metric of a ledger that is shipped to a store.
type shippingMetric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(ship.Stats) float64
}

func newShippingMetric(name, help string, kind prometheus.ValueType, of func(ship.Stats) float64) shippingMetric {
	return shippingMetric{prometheus.NewDesc(name, help, nil, nil), kind, of}
}

var shippingMetrics = []shippingMetric{
	newShippingMetric("candor_ledger_shipped_entries_total", "Ledger entries that this process has appended to the store.", prometheus.CounterValue, func(s ship.Stats) float64 { return float64(s.Shipped) }),
	newShippingMetric("candor_ledger_waiting_entries", "Ledger entries that the store does not have yet.", prometheus.GaugeValue, func(s ship.Stats) float64 { return float64(s.Waiting) }),
	newShippingMetric("candor_ledger_waiting_bytes", "Size of the ledger entries that the store does not have yet.", prometheus.GaugeValue, func(s ship.Stats) float64 { return float64(s.Bytes) }),
	newShippingMetric("candor_ledger_waiting_seconds", "How long the oldest ledger entry waits for the store.", prometheus.GaugeValue, func(s ship.Stats) float64 { return s.Oldest.Seconds() }),
	newShippingMetric("candor_ledger_lost_by_store_total", "Ledger entries that the store had acknowledged and did not have any more.", prometheus.CounterValue, func(s ship.Stats) float64 { return float64(s.Lost) }),
	newShippingMetric("candor_ledger_unshippable_chains", "Chains that differ from their copy in the store, or are damaged, and are not shipped.", prometheus.GaugeValue, func(s ship.Stats) float64 { return float64(len(s.Problems)) }),
}

// collector reads the metrics of a running gateway, without its failures and durations.
type collector struct{ s *server }

// Describe implements [prometheus.Collector].
func (collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range serverMetrics {
		descs <- m.desc
	}
	descs <- buildInfo
	descs <- diskFree
	descs <- dropped
	for _, m := range shippingMetrics {
		descs <- m.desc
	}
}

// Collect implements [prometheus.Collector]. Retired endpoints of an upstream are included.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	for name, sum := range c.s.routes.Load().totals() {
		for _, m := range serverMetrics {
			metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, float64(m.of(sum)), name)
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
			metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(now))
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
	format := expfmt.NegotiateIncludingOpenMetrics(r.Header)
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
