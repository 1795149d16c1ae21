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

// traffic is what the gateway itself can tell of an upstream, beside its failures.
var traffic = []struct {
	name, kind, help string
	of               func(*gateway.Upstream) uint64
	gone             func(counted) uint64 // what doors had counted that are no more: a counter never goes back
}{
	{"candor_gateway_calls_total", "counter", "Calls that clients have made, refused ones included.", (*gateway.Upstream).Calls, func(t counted) uint64 { return t.calls }},
	{"candor_gateway_open_calls", "gauge", "Calls that have no end yet.", func(u *gateway.Upstream) uint64 { return uint64(max(0, u.Open())) }, func(counted) uint64 { return 0 }},
	{"candor_gateway_late_answers_total", "counter", "Answers that came after their call had ended, and were dropped.", (*gateway.Upstream).Late, func(t counted) uint64 { return t.late }},
}

// metricsPage shows the failures, and then the traffic by upstream. The doors of an upstream before its settings changed count with it.
func (s *serving) metricsPage(w http.ResponseWriter, _ *http.Request) {
	text, err := prom.Text(s.p.Counts)
	if err != nil {
		http.Error(w, "the metrics could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", prom.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(text + s.trafficText())) // the scraper is gone; it will come again
}

func (s *serving) trafficText() string {
	var text strings.Builder
	f := s.front.Load()
	doors := f.all()
	for _, row := range traffic {
		sums := map[string]uint64{}
		for name, had := range f.gone {
			sums[name] += row.gone(had)
		}
		for _, d := range doors {
			sums[d.settings.Name] += row.of(d.up)
		}
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", row.name, row.help, row.name, row.kind)
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			fmt.Fprintf(&text, "%s{upstream=%q} %d\n", row.name, name, sums[name])
		}
	}
	return text.String()
}
