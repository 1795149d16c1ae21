//go:build unix

package main

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	logcollector "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	metriccollector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	tracecollector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// receiver is an OTLP receiver. It decodes requests with the official definitions.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	header   http.Header // of the last request
	resource map[string]string
	spans    []*tracepb.Span
	logs     []*logspb.LogRecord
	metrics  map[string]*metricspb.Metric // the last of each name
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, metrics: map[string]*metricspb.Metric{}, resource: map[string]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body := req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			r.t.Error(err)
			return
		}
		body = unpacked
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return // the client has ended
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.header = req.Header
	switch req.URL.Path {
	case "/v1/traces":
		var m tracecollector.ExportTraceServiceRequest
		r.decode(text, &m)
		for _, group := range m.GetResourceSpans() {
			r.describe(group.GetResource().GetAttributes())
			for _, scope := range group.GetScopeSpans() {
				r.spans = append(r.spans, scope.GetSpans()...)
			}
		}
	case "/v1/metrics":
		var m metriccollector.ExportMetricsServiceRequest
		r.decode(text, &m)
		for _, group := range m.GetResourceMetrics() {
			for _, scope := range group.GetScopeMetrics() {
				for _, metric := range scope.GetMetrics() {
					r.metrics[metric.GetName()] = metric
				}
			}
		}
	case "/v1/logs":
		var m logcollector.ExportLogsServiceRequest
		r.decode(text, &m)
		for _, group := range m.GetResourceLogs() {
			for _, scope := range group.GetScopeLogs() {
				r.logs = append(r.logs, scope.GetLogRecords()...)
			}
		}
	default:
		r.t.Errorf("export to %s", req.URL.Path)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (r *receiver) decode(text []byte, m proto.Message) {
	if err := proto.Unmarshal(text, m); err != nil {
		r.t.Error(err)
	}
}

func (r *receiver) describe(attributes []*commonpb.KeyValue) {
	for _, a := range attributes {
		r.resource[a.GetKey()] = a.GetValue().GetStringValue()
	}
}

// attributesOf returns the attributes of a span, log record or data point as text.
func attributesOf(list []*commonpb.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range list {
		switch v := a.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.GetKey()] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			all[a.GetKey()] = fmt.Sprint(v.IntValue)
		default:
			all[a.GetKey()] = a.GetValue().String()
		}
	}
	return all
}

const (
	knownTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	knownParent = "00-" + knownTrace + "-00f067aa0ba902b7-01"
	otherTrace  = "0af7651916cd43dd8448eb211c80319c"
	otherParent = "00-" + otherTrace + "-b7ad6b7169203331-01"
)

// TestExportedTelemetryAgreesWithTheLedger makes calls of each kind through a gateway and compares what an OTLP receiver got with
// the entries of the ledger, one by one.
func TestExportedTelemetryAgreesWithTheLedger(t *testing.T) {
	r := newReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=shop%20one")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_SERVICE_NAME", "front")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
	g := newPlantedGate(t)
	const rounds = 5
	for range rounds {
		g.round(t)
	}
	for _, call := range []struct{ header, meta string }{{knownParent, ""}, {knownParent, otherParent}} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"traced","method":"tools/call","params":{"name":"fail","arguments":{"n":1},"_meta":{"traceparent":%q}}}`, call.meta)
		if _, err := g.send(t.Context(), "/it/", body, "Traceparent", call.header); err != nil {
			t.Fatal(err)
		}
	}
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := g.failures(t)
	if len(entries) != 4*rounds+2 || len(r.spans) != 5*rounds+2 {
		t.Errorf("%d entries, %d spans; want %d and %d", len(entries), len(r.spans), 4*rounds+2, 5*rounds+2)
	}
	r.spansAgree(t, entries)
	r.logsAgree(t, entries)
	r.metricsAgree(t, entries, 5*rounds+2, 0)
	if r.header.Get("X-Tenant") != "shop one" || r.resource["service.name"] != "front" || r.resource["deployment.environment"] != "test" || r.resource["service.version"] == "" {
		t.Errorf("header %v, resource %v", r.header, r.resource)
	}
}

// failures returns the failure entries of the ledger by ref.
func (p *process) failures(t *testing.T) map[string]ledger.Record {
	t.Helper()
	r, err := ledger.OpenReader(p.trail)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	all := map[string]ledger.Record{}
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind != ledger.KindFailure {
			continue
		}
		record, err := line.Record()
		if err != nil {
			t.Fatal(err)
		}
		all[record.Ref] = record
	}
	return all
}

func (r *receiver) spansAgree(t *testing.T, entries map[string]ledger.Record) {
	t.Helper()
	seen, traces := map[string]bool{}, map[string]int{}
	for _, s := range r.spans {
		a := attributesOf(s.GetAttributes())
		traces[hex.EncodeToString(s.GetTraceId())]++
		entry, failed := entries[a["candor.ref"]]
		if a["mcp.method.name"] != "tools/call" || a["candor.server"] == "" || a["network.transport"] != "tcp" || s.GetKind() != tracepb.Span_SPAN_KIND_SERVER {
			t.Errorf("span %s %v has %v", s.GetName(), s.GetKind(), a)
		}
		if s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() || time.Since(time.Unix(0, int64(s.GetStartTimeUnixNano()))) > time.Hour {
			t.Errorf("span from %d to %d", s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano())
		}
		if !failed {
			if a["candor.outcome"] != "success" || s.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_UNSET {
				t.Errorf("span without an entry: %v, %v", a, s.GetStatus())
			}
			continue
		}
		seen[entry.Ref] = true
		sent := entry.Outcome != ledger.OutcomeSuspected
		if isError := s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR; isError != (sent && serverFault(entry.Class)) || (a["error.type"] != "") != sent {
			t.Errorf("entry %+v has the span %v, %v", entry, a, s.GetStatus())
		}
	}
	if len(seen) != len(entries) {
		t.Errorf("%d of %d entries have a span", len(seen), len(entries))
	}
	if traces[knownTrace] != 1 || traces[otherTrace] != 1 {
		t.Errorf("the traces of the requests have %d and %d spans, want 1 each", traces[knownTrace], traces[otherTrace])
	}
	for _, s := range r.spans {
		if hex.EncodeToString(s.GetTraceId()) == otherTrace && (len(s.GetLinks()) != 1 || hex.EncodeToString(s.GetLinks()[0].GetTraceId()) != knownTrace) {
			t.Errorf("the trace of the HTTP request is not linked: %v", s.GetLinks())
		}
	}
}

// serverFault reports whether a failure of that class gives a span the status Error.
func serverFault(c candor.Class) bool {
	return c == candor.ClassUnavailable || c == candor.ClassTimeout || c == candor.ClassInternal || c == candor.ClassCorrupt
}

func (r *receiver) logsAgree(t *testing.T, entries map[string]ledger.Record) {
	t.Helper()
	seen := map[string]int{}
	for _, record := range r.logs {
		if ref := attributesOf(record.GetAttributes())["ref"]; ref != "" {
			seen[ref]++
			if len(record.GetTraceId()) != 16 || len(record.GetSpanId()) != 8 || record.GetBody().GetStringValue() == "" {
				t.Errorf("record %v has no span", record)
			}
		}
	}
	for ref := range entries {
		if seen[ref] != 1 {
			t.Errorf("%d log records for %s, want 1", seen[ref], ref)
		}
	}
	if len(seen) != len(entries) {
		t.Errorf("records about %d failures, want %d", len(seen), len(entries))
	}
}

// metricsAgree compares the metrics with the entries and the calls. outside is the number of entries that belong to no call.
func (r *receiver) metricsAgree(t *testing.T, entries map[string]ledger.Record, calls, outside int) {
	t.Helper()
	sum := func(name string) (n int64) {
		for _, p := range r.metrics[name].GetSum().GetDataPoints() {
			n += p.GetAsInt()
		}
		return n
	}
	suspected := int64(0)
	for _, entry := range entries {
		if entry.Outcome == ledger.OutcomeSuspected {
			suspected++
		}
	}
	if all, byCode, suspects := sum("candor.errors.all"), sum("mcp.server.errors"), sum("candor.errors.suspected"); all != int64(len(entries)) || byCode != all || suspects != suspected {
		t.Errorf("%d failures, %d by code, %d suspected; the ledger has %d, %d suspected", all, byCode, suspects, len(entries), suspected)
	}
	count, failed := uint64(0), uint64(0)
	for _, p := range r.metrics["mcp.server.operation.duration"].GetHistogram().GetDataPoints() {
		count += p.GetCount()
		if attributesOf(p.GetAttributes())["error.type"] != "" {
			failed += p.GetCount()
		}
	}
	if want := uint64(len(entries)-outside) - uint64(suspected); count != uint64(calls) || failed != want {
		t.Errorf("%d durations, %d of failures; want %d and %d", count, failed, calls, want)
	}
}

// TestDeadReceiverCostsNoCall exports to a receiver that never answers. Every call is answered and recorded, the gateway ends, and the
// loss is reported once.
func TestDeadReceiverCostsNoCall(t *testing.T) {
	never := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-never }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(never) })
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", slow.URL)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "10")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")
	g := newPlantedGate(t)
	for range 5 {
		g.round(t)
	}
	if dropped := g.families(t)["candor_telemetry_dropped_total"]; sumOf(dropped) < 15 {
		t.Errorf("dropped %v, want at least 15", dropped)
	}
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	if said := g.said.String(); !strings.Contains(said, "telemetry was lost") || strings.Count(said, "exporting telemetry failed") > 1 {
		t.Errorf("it said %s", said)
	}
	if len(g.failures(t)) != 20 {
		t.Errorf("%d entries, want 20", len(g.failures(t)))
	}
}

// TestWrapExportsWithoutDisturbingTheSession wraps a server with variables that are meant for other programs, and with good ones.
func TestWrapExportsWithoutDisturbingTheSession(t *testing.T) {
	r := newReceiver(t)
	for _, row := range []struct {
		name, key, value, says string
		spans                  int
	}{
		{"off", "OTEL_SDK_DISABLED", "true", "", 0},
		{"grpc", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "want http/protobuf or http/json", 0},
		{"on", "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "", 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
			t.Setenv(row.key, row.value)
			p := launch(t, "wrap", "--json-logs", "--", "badserver", "plain")
			p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"},"_meta":{"traceparent":%q}}}`, knownParent))
			p.hear()
			p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"nosuch","arguments":{}}}`)
			p.hear()
			if err := p.in.Close(); err != nil {
				t.Fatal(err)
			}
			p.ends()
			if said := p.said.String(); !strings.Contains(said, row.says) {
				t.Errorf("it said %s", said)
			}
			p.jsonLogsHaveRefs(t)
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(r.spans) != row.spans {
				t.Errorf("%d spans, want %d", len(r.spans), row.spans)
			}
			for _, s := range r.spans {
				if a := attributesOf(s.GetAttributes()); a["network.transport"] != "pipe" || a["mcp.method.name"] == "initialize" && hex.EncodeToString(s.GetTraceId()) != knownTrace {
					t.Errorf("span %v in trace %x", a, s.GetTraceId())
				}
			}
		})
	}
}

// jsonLogsHaveRefs checks that standard error is JSON and has a line with the ref of each failure.
func (p *process) jsonLogsHaveRefs(t *testing.T) {
	t.Helper()
	refs := map[string]int{}
	for line := range strings.Lines(p.said.String()) {
		var record struct{ Level, Msg, Ref, Code string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if record.Ref != "" && record.Code != "" {
			refs[record.Ref]++
		}
	}
	entries := p.failures(t)
	for ref := range entries {
		if refs[ref] != 1 {
			t.Errorf("%d lines for %s: %s", refs[ref], ref, p.said)
		}
	}
	if len(entries) == 0 || len(refs) != len(entries) {
		t.Errorf("%d entries, %d refs in the log", len(entries), len(refs))
	}
}
