//go:build unix

package main

import (
	"errors"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

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
	text := configText(web.URL, "") + "  gone:\n    url: http://127.0.0.1:1/mcp\n    breaker:\n      failures: 2\n      rest: 5m\n" // no other test listens there, as on a port that was free
	return &plantedGate{gate: newGate(t, text), next: 1}
}

// round makes a call of each kind: a success, a failure, a masked failure, a wasted retry, and a call to the server that has exited.
func (g *plantedGate) round(t *testing.T) {
	t.Helper()
	for _, call := range []struct{ server, tool string }{{"it", "echo"}, {"it", "fail"}, {"it", "fail"}, {"it", "masked"}, {"gone", "echo"}} {
		if _, err := g.send(t.Context(), "/"+call.server+"/", toolCall(strconv.Itoa(g.next), call.tool), "Mcp-Session-Id", "session-1"); err != nil {
			t.Fatalf("%v; it said %s", err, g.said)
		}
		g.next++
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
