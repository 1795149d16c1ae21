package prom_test

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/adapters/prom"
	"github.com/candor-mcp/candor/codes/memorybank"
	"github.com/candor-mcp/candor/meter"
)

const hostileTool = `quote " and \ slash and \n`

func counted(t *testing.T) *meter.Meter {
	t.Helper()
	m, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		m.Count(candor.New(memorybank.FileNotFound, "", candor.WithTool("mb/read")), "tool")
	}
	m.Count(candor.New(candor.CodeMethodNotFound, ""), "protocol")
	m.Count(candor.New(candor.CodeInternalError, "", candor.WithTool(hostileTool)), "lost")
	m.CountServer(`quote " and \ slash`, "tool")
	m.CountSuppressed()
	m.CountSuspected()
	m.CountUnrecorded(candor.New(candor.CodeLedgerFailed, ""))
	return m
}

func TestTextFormat(t *testing.T) {
	got, err := prom.Text(counted(t))
	if err != nil {
		t.Fatal(err)
	}
	var samples []string
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "#") {
			samples = append(samples, strings.TrimSpace(line))
		}
	}
	want := []string{
		`mcp_errors_by_code_total{class="internal",code="-32603",domain="candor",symbol="INTERNAL_ERROR"} 1`,
		`mcp_errors_by_code_total{class="unsupported",code="-32601",domain="candor",symbol="METHOD_NOT_FOUND"} 1`,
		`mcp_errors_by_code_total{class="not_found",code="2300",domain="memory-bank",symbol="E_MB_FILE_NOT_FOUND"} 3`,
		`mcp_errors_by_domain_total{domain="candor"} 2`,
		`mcp_errors_by_domain_total{domain="memory-bank"} 3`,
		`mcp_errors_by_server_total{outcome="tool",server="quote \" and \\ slash"} 1`,
		`mcp_errors_by_tool_total{tool="mb/read",verdict="tool"} 3`,
		`mcp_errors_by_tool_total{tool="none",verdict="protocol"} 1`,
		`mcp_errors_by_tool_total{tool="quote \" and \\ slash and \\n",verdict="lost"} 1`,
		`mcp_errors_suppressed_total 1`,
		`mcp_errors_suspected_total 1`,
		`mcp_errors_total 5`,
		`mcp_errors_unrecorded_total 1`,
	}
	slices.Sort(samples)
	slices.Sort(want)
	if !slices.Equal(samples, want) {
		t.Errorf("samples are\n%s\nwant\n%s", strings.Join(samples, "\n"), strings.Join(want, "\n"))
	}
}

// The root package removes line ends from names, so they do not reach a label. This tests the escaping in case that changes.
func TestTextWithAnyToolName(t *testing.T) {
	m := counted(t)
	for _, name := range []string{"line\nmcp_errors_total 99\n", "\xff\xfe", "\u2028", `\`, `"`, `"} 7`, strings.Repeat("é", 4000)} {
		m.Count(candor.New(candor.CodeInternalError, "", candor.WithTool(name)), "tool")
	}
	text, err := prom.Text(m)
	if err != nil {
		t.Fatal(err)
	}
	families := parse(t, text)
	if got := families["mcp_errors_total"].GetMetric(); len(got) != 1 || got[0].GetCounter().GetValue() != 12 {
		t.Errorf("the total is %v", got)
	}
	sum := 0.0
	for _, row := range families["mcp_errors_by_code_total"].GetMetric() {
		sum += row.GetCounter().GetValue()
	}
	if math.Abs(sum-12) > 0 {
		t.Errorf("codes add up to %v, want 12", sum)
	}
}

func TestHandlerServesText(t *testing.T) {
	m := counted(t)
	server := httptest.NewServer(prom.Handler(m))
	defer server.Close()
	want, err := prom.Text(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, accept := range []string{"", "text/plain", "application/openmetrics-text; version=1.0.0", "application/vnd.google.protobuf"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || string(body) != want || response.Header.Get("Content-Type") != prom.ContentType {
			t.Errorf("Accept %q: %s, %v, body\n%s", accept, response.Header.Get("Content-Type"), err, body)
		}
	}
	response := httptest.NewRecorder()
	prom.Handler(m).ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/metrics", http.NoBody))
	if response.Code != http.StatusMethodNotAllowed || response.Header().Get("Allow") == "" {
		t.Errorf("POST: %d %v", response.Code, response.Header())
	}
}

func TestScrapeTwice(t *testing.T) {
	m := counted(t)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(prom.NewCollector(m))
	for range 2 {
		families, err := registry.Gather() // a pedantic registry also checks the metrics it gets
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "mcp_errors_total" && f.GetMetric()[0].GetCounter().GetValue() != 5 {
				t.Errorf("total is %v", f)
			}
		}
		if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) > 0 {
			t.Errorf("promlint: %v %v", problems, err)
		}
	}
}

func TestNilMeterExportsZero(t *testing.T) {
	text, err := prom.Text(nil)
	if err != nil || !strings.Contains(text, "\nmcp_errors_total 0\n") {
		t.Errorf("text is %q, %v", text, err)
	}
}

func parse(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("the text does not parse: %v\n%s", err, text)
	}
	return families
}
