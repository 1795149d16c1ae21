// Package prom exports a [meter.Meter] to Prometheus.
//
// Register [NewCollector] with your registry, or serve [Handler] at /metrics without one. [Text] returns the same metrics as text.
// docs/meter.md lists their names.
//
// The package does not count: each scrape reads those of the meter, so that nothing is counted twice.
package prom

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/candor-mcp/candor/meter"
)

// ContentType is the media type of [Text] and of the responses of [Handler].
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

var (
	total = prometheus.NewDesc("mcp_errors_total",
		"Failures since the process started. Exact, also when breakdowns are sampled.", nil, nil)
	byCode = prometheus.NewDesc("mcp_errors_by_code_total",
		"Failures by code. The label code is the number of a JSON-RPC error of this code.",
		[]string{"code", "symbol", "domain", "class"}, nil)
	byDomain = prometheus.NewDesc("mcp_errors_by_domain_total",
		"Failures by domain of the code.", []string{"domain"}, nil)
	byTool = prometheus.NewDesc("mcp_errors_by_tool_total",
		"Failures by tool and verdict. Tools beyond the bound are other; failures of no tool are none.",
		[]string{"tool", "verdict"}, nil)
	byServer = prometheus.NewDesc("mcp_errors_by_server_total",
		"Failures by server and outcome, of a gateway. Servers beyond the bound are other.", []string{"server", "outcome"}, nil)
	suppressed = prometheus.NewDesc("mcp_errors_suppressed_total",
		"Failures that were counted but not sent. Part of mcp_errors_total.", nil, nil)
	suspected = prometheus.NewDesc("mcp_errors_suspected_total",
		"Answers that look like failures and were passed on as they are. Part of mcp_errors_suppressed_total.", nil, nil)
	unrecorded = prometheus.NewDesc("mcp_errors_unrecorded_total",
		"Failures that were sent but could not be recorded. No part of mcp_errors_total.", nil, nil)
)

// NewCollector returns a collector to register with a registry. A nil Meter is always at zero.
func NewCollector(m *meter.Meter) prometheus.Collector { return collector{m} }

type collector struct{ meter *meter.Meter }

// Describe implements [prometheus.Collector].
func (c collector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{total, byCode, byDomain, byTool, byServer, suppressed, suspected, unrecorded} {
		descs <- d
	}
}

// Collect implements [prometheus.Collector]. All numbers of one scrape come from one snapshot.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	s := c.meter.Snapshot()
	send := func(d *prometheus.Desc, count uint64, labels ...string) {
		m, err := prometheus.NewConstMetric(d, prometheus.CounterValue, float64(count), labels...)
		if err != nil { // a label that is not UTF-8, which the meter never has
			m = prometheus.NewInvalidMetric(d, err)
		}
		metrics <- m
	}
	send(total, s.Total)
	send(suppressed, s.Suppressed)
	send(suspected, s.Suspected)
	domains := map[string]uint64{}
	for _, n := range s.Codes {
		send(byCode, n.Count, strconv.Itoa(n.Code.Info().RPCNumber), n.Code.Symbol(), n.Code.Domain(), string(n.Code.Class()))
		domains[n.Code.Domain()] += n.Count
	}
	for domain, n := range domains {
		send(byDomain, n, domain)
	}
	for _, n := range s.Tools {
		send(byTool, n.Count, n.Tool, n.Verdict)
	}
	for _, n := range s.Servers {
		send(byServer, n.Count, n.Server, n.Verdict)
	}
	missed := uint64(0)
	for _, n := range s.Unrecorded {
		missed += n.Count
	}
	send(unrecorded, missed)
}

// Text returns the metrics in the text format of Prometheus, in a stable order.
func Text(m *meter.Meter) (string, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(NewCollector(m)); err != nil {
		return "", fmt.Errorf("writing metrics: %w", err)
	}
	families, err := registry.Gather()
	if err != nil {
		return "", fmt.Errorf("writing metrics: %w", err)
	}
	var text strings.Builder
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			return "", fmt.Errorf("writing metrics: %w", err)
		}
	}
	return text.String(), nil
}

// Handler serves the output of [Text], to be mounted at /metrics. It answers GET and HEAD, and does not check credentials or
// the Host header: mount it where only the scraper has access.
func Handler(m *meter.Meter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are served here", http.StatusMethodNotAllowed)
			return
		}
		text, err := Text(m)
		if err != nil {
			http.Error(w, "the metrics could not be written", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", ContentType)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte(text)) // the scraper has disconnected and will retry
	})
}
