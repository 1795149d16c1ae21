package prom_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/adapters/prom"
	"github.com/candor-mcp/candor/meter"
)

// Text returns the counters in the text format of Prometheus.
func ExampleText() {
	m, err := meter.New(meter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Count(candor.New(candor.CodeNotFound, ""), "tool")
	text, err := prom.Text(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "mcp_errors_total") {
			fmt.Print(line)
		}
	}
	// Output:
	// mcp_errors_total 1
}

// Handler serves the counters of a meter, and nothing else.
func ExampleHandler() {
	m, err := meter.New(meter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", prom.Handler(m))
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), "mcp_errors_total 0"))
	// Output:
	// 200 true
}
