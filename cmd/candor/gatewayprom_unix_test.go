//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// observability is the folder of the dashboard and the rules.
var observability = filepath.Join("..", "..", "examples", "observability")

// prometheusTool returns the path of a program of the Debian package prometheus, or skips the test.
func prometheusTool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s in PATH: apt-get install prometheus", name)
	}
	return path
}

// plantedGate is a gateway in front of a server that answers, fails and masks failures, and of one that cannot be reached.
type plantedGate struct {
	*gate
	next int // id of the next call
}

func newPlantedGate(t *testing.T) *plantedGate {
	t.Helper()
	web := newWebServer(t)
	gone := httptest.NewServer(nil)
	gone.Close() // its port refuses connections
	text := configText(web.URL, "") + "  gone:\n    url: " + gone.URL + "/mcp\n    breaker:\n      failures: 2\n      rest: 5m\n"
	return &plantedGate{gate: newGate(t, text), next: 1}
}

// round makes a call of each kind: a success, a failure, a masked failure, a wasted retry, and a call to the server that is gone.
func (g *plantedGate) round(t *testing.T) {
	t.Helper()
	for _, call := range []struct{ server, tool string }{{"it", "echo"}, {"it", "fail"}, {"it", "fail"}, {"it", "masked"}, {"gone", "echo"}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.address+"/"+call.server+"/", strings.NewReader(toolCall(strconv.Itoa(g.next), call.tool)))
		if err != nil {
			t.Fatal(err)
		}
		g.next++
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", "session-1")
		if _, err := fetch(req); err != nil {
			t.Fatalf("%v; it said %s", err, g.said)
		}
	}
}

// families returns the metrics of the gateway, decoded from the protobuf format.
func (g *plantedGate) families(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.admin+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;q=0.5")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	decoder := expfmt.NewDecoder(res.Body, expfmt.ResponseFormat(res.Header))
	all := map[string]*dto.MetricFamily{}
	for {
		family := &dto.MetricFamily{}
		if err := decoder.Decode(family); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[family.GetName()] = family
	}
}

func sumOf(family *dto.MetricFamily) (sum uint64) {
	for _, m := range family.GetMetric() {
		switch {
		case m.Histogram != nil:
			sum += m.GetHistogram().GetSampleCount()
		case m.Counter != nil:
			sum += uint64(m.GetCounter().GetValue())
		default:
			sum += uint64(m.GetGauge().GetValue())
		}
	}
	return sum
}

func TestMetricsAgreeWithTheLedger(t *testing.T) {
	t.Parallel()
	g := newPlantedGate(t)
	for range 4 {
		g.round(t)
	}
	all := g.families(t)
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	recorded := uint64(0)
	for _, n := range g.recorded() {
		recorded += uint64(n)
	}
	for _, name := range []string{"mcp_errors_total", "mcp_errors_by_code_total", "mcp_errors_by_tool_total", "mcp_errors_by_server_total"} {
		if got := sumOf(all[name]); got != recorded || got != 16 {
			t.Errorf("%s is %d; the ledger has %d entries, want 16", name, got, recorded)
		}
	}
	if calls, ended := sumOf(all["candor_gateway_calls_total"]), sumOf(all["candor_gateway_call_duration_seconds"]); calls != 20 || ended != 20 {
		t.Errorf("%d calls, %d durations; want 20", calls, ended)
	}
	if open := sumOf(all["candor_gateway_open_breakers"]); open != 1 {
		t.Errorf("%d open breakers, want 1", open)
	}
	if sumOf(all["candor_gateway_wasted_retries_total"]) == 0 || sumOf(all["candor_ledger_disk_free_bytes"]) == 0 || sumOf(all["candor_build_info"]) != 1 {
		t.Errorf("missing in %v", all)
	}
	outcomes := map[string]uint64{}
	for _, m := range all["candor_gateway_call_duration_seconds"].GetMetric() {
		for _, label := range m.GetLabel() {
			if label.GetName() == "outcome" {
				outcomes[label.GetValue()] += m.GetHistogram().GetSampleCount()
			}
		}
		h := m.GetHistogram()
		if len(h.GetBucket()) == 0 || h.Schema == nil || len(h.GetPositiveSpan()) == 0 {
			t.Errorf("the histogram of %v is not both classic and native: %v", m.GetLabel(), h)
		}
	}
	if outcomes["success"] != 4 || outcomes["tool"] != 8 || outcomes["suspected"] != 4 || outcomes["lost"] != 4 {
		t.Errorf("outcomes are %v", outcomes)
	}
}

func TestPromtoolAcceptsMetricsAndRules(t *testing.T) {
	t.Parallel()
	promtool := prometheusTool(t, "promtool")
	g := newPlantedGate(t)
	g.round(t)
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = strings.NewReader(g.look(t, "/metrics"))
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"check", "rules", "rules.yml"}, {"test", "rules", "rules_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = observability
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %q: %v\n%s", args, err, out)
		}
	}
}

// TestDashboardQueriesReturnData runs every query of the dashboard and of the rules against a Prometheus that scrapes a gateway
// with planted failures.
func TestDashboardQueriesReturnData(t *testing.T) {
	t.Parallel()
	program := prometheusTool(t, "prometheus")
	g := newPlantedGate(t)
	g.round(t) // a rate needs two scrapes of a series
	p := startPrometheus(t, program, strings.TrimPrefix(g.admin, "http://"))
	p.await(t, `candor_gateway_calls_total`)
	for range 4 {
		g.round(t)
		time.Sleep(2 * scrapeInterval)
	}
	queries := dashboardQueries(t)
	if len(queries) < 20 {
		t.Fatalf("the dashboard has %d queries", len(queries))
	}
	for _, q := range append(queries, ruleMetrics(t)...) {
		q = strings.NewReplacer("$__rate_interval", "1m", "$server", ".*").Replace(q)
		if result := p.query(t, q); len(result) == 0 {
			t.Errorf("no data for %s", q)
		}
	}
}

// TestPrometheusReadsNativeHistograms scrapes with the feature that asks for the protobuf format.
func TestPrometheusReadsNativeHistograms(t *testing.T) {
	t.Parallel()
	program := prometheusTool(t, "prometheus")
	g := newPlantedGate(t)
	g.round(t)
	p := startPrometheus(t, program, strings.TrimPrefix(g.admin, "http://"), "--enable-feature=native-histograms")
	p.await(t, `histogram_count(candor_gateway_call_duration_seconds{server="it",outcome="success"}) > 0`)
	p.await(t, `histogram_quantile(0.9, sum by (server) (rate(candor_gateway_call_duration_seconds[1m])))`)
	if classic := p.query(t, `candor_gateway_call_duration_seconds_bucket`); len(classic) > 0 {
		t.Errorf("the histogram was read as a classic one: %s", classic[0])
	}
}

// dashboardQueries returns the queries of all panels.
func dashboardQueries(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(observability, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	return all
}

// ruleMetrics returns the names of the metrics that the rules use.
func ruleMetrics(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(observability, "rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\b(candor|mcp)_[a-z_]+`).FindAllString(string(text), -1)
	if len(names) < 5 {
		t.Fatalf("the rules use %q", names)
	}
	return names
}

const scrapeInterval = 200 * time.Millisecond

// promServer is a running Prometheus.
type promServer struct{ url string }

func startPrometheus(t *testing.T, program, target string, flags ...string) *promServer {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global:\n  scrape_interval: %s\n  scrape_timeout: %s\nscrape_configs:\n  - job_name: candor\n    static_configs:\n      - targets: [%q]\n", scrapeInterval, scrapeInterval, target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	ctx, cancel := context.WithCancel(context.Background()) // the test's own context would kill it before Cleanup
	cmd := exec.CommandContext(ctx, program, append(flags, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("prometheus said %s", out.String())
		}
	})
	return &promServer{"http://" + address}
}

// freeAddress returns an address that no process listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was served
	return l.Addr().String()
}

// ask returns the results of a query, or an error if there is no answer yet.
func (p *promServer) ask(ctx context.Context, query string) ([]json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/query?query="+url.QueryEscape(query), nil)
	if err != nil {
		return nil, err
	}
	text, err := fetch(req)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("query %s: %s", query, answer.Error)
	}
	return answer.Data.Result, nil
}

func (p *promServer) query(t *testing.T, query string) []json.RawMessage {
	t.Helper()
	result, err := p.ask(t.Context(), query)
	if err != nil {
		t.Error(err)
	}
	return result
}

// await waits until a query returns data.
func (p *promServer) await(t *testing.T, query string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		result, err := p.ask(t.Context(), query)
		if err == nil && len(result) > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no data for %s: %v", query, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
