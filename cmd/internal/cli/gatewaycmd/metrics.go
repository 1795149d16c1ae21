package gatewaycmd

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/meter/prom"
)

// traffic has the metrics of an upstream other than its failures.
var traffic = []struct {
	name, kind, help string
	of               func(totals) uint64
}{
	{"candor_gateway_calls_total", "counter", "Calls of clients, refused ones included.", func(t totals) uint64 { return t.calls }},
	{"candor_gateway_open_calls", "gauge", "Calls in progress.", func(t totals) uint64 { return t.open }},
	{"candor_gateway_late_answers_total", "counter", "Responses that came after their call had ended, and were dropped.", func(t totals) uint64 { return t.late }},
}

// metricsPage writes the metrics of failures, then traffic by upstream. Retired endpoints of an upstream are included.
func (s *server) metricsPage(w http.ResponseWriter, _ *http.Request) {
	text, err := prom.Text(s.p.Counts)
	if err != nil {
		http.Error(w, "metrics could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", prom.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(text + s.trafficText())) // the client may have disconnected
}

func (s *server) trafficText() string {
	var text strings.Builder
	sums := s.routes.Load().totals()
	for _, row := range traffic {
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", row.name, row.help, row.name, row.kind)
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			fmt.Fprintf(&text, "%s{upstream=%q} %d\n", row.name, name, row.of(sums[name]))
		}
	}
	return text.String()
}
