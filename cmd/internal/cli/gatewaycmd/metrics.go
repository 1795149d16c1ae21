package gatewaycmd

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/meter/prom"
)

// traffic has the metrics of an upstream other than its failures.
var traffic = []struct {
	name, kind, help string
	of               func(*gateway.Upstream) uint64
	removed          func(totals) uint64 // counts of closed endpoints: a counter never decreases
}{
	{"candor_gateway_calls_total", "counter", "Calls of clients, refused ones included.", (*gateway.Upstream).Calls, func(t totals) uint64 { return t.calls }},
	{"candor_gateway_open_calls", "gauge", "Calls in progress.", func(u *gateway.Upstream) uint64 { return uint64(max(0, u.Open())) }, func(totals) uint64 { return 0 }},
	{"candor_gateway_late_answers_total", "counter", "Responses that came after their call had ended, and were dropped.", (*gateway.Upstream).Late, func(t totals) uint64 { return t.late }},
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
	f := s.routes.Load()
	endpoints := f.all()
	for _, row := range traffic {
		sums := map[string]uint64{}
		for name, had := range f.removed {
			sums[name] += row.removed(had)
		}
		for _, d := range endpoints {
			sums[d.settings.Name] += row.of(d.up)
		}
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", row.name, row.help, row.name, row.kind)
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			fmt.Fprintf(&text, "%s{upstream=%q} %d\n", row.name, name, sums[name])
		}
	}
	return text.String()
}
