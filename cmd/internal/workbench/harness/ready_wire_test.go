package harness_test

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	server "github.com/candor-mcp/candor/cmd/internal/workbench/harness"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/meter"
	"github.com/candor-mcp/candor/wire"
)

// methods returns the methods in the ready line.
func (h *harness) methods() []string {
	var names []string
	for v := range h.ready.Path("methods").Elements() {
		name, _ := v.Str()
		names = append(names, name)
	}
	return names
}

// domainMethods returns the methods of each domain, opened alone.
func domainMethods(t *testing.T) map[string][]string {
	t.Helper()
	counts, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, name := range server.Names() {
		h, err := server.Open(server.Options{
			Settings: server.Settings{Domains: []string{name}}, Meter: counts,
			Environment: domain.Environment{Getenv: func(string) string { return "" }, State: t.TempDir(), Logger: slog.New(slog.DiscardHandler)},
		})
		if err != nil {
			t.Fatal(err)
		}
		all[name] = slices.DeleteFunc(h.Report(t.Context()).Methods, func(m string) bool { return strings.HasPrefix(m, "sys/") })
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	return all
}

// TestH1ReadyLineIsFirstAndOnce reads the whole output of the harness: the ready line, which lists exactly the enabled
// methods, and one answer to each request.
func TestH1ReadyLineIsFirstAndOnce(t *testing.T) {
	t.Parallel()
	byDomain := domainMethods(t)
	for name, c := range map[string]struct {
		env     []string
		domains []string
	}{
		"default": {nil, []string{"memory-bank", "kg"}},
		"named":   {[]string{"MCP_SERVER_NAME=memory", "MCP_ERROR_METRICS=1"}, []string{"memory-bank", "kg"}},
		"all":     {[]string{"MCP_DOMAINS=all,puppeteer"}, slices.Collect(maps.Keys(byDomain))},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, setup{env: c.env}) // fails if the first line is another one
			server, named := h.ready.Path("server").Str()
			if version, ok := h.ready.Path("schema", "errorCodes").Int64(); !ok || version != 1 || named != (name == "named") || named && server != "memory" {
				t.Errorf("the ready line: %s", h.ready.Raw())
			}
			want := []string{"sys/metrics", "sys/ping", "sys/promMetrics", "sys/setLogLevel"}
			if name == "named" {
				want = append(want, "sys/errorStats")
			}
			for _, domain := range c.domains {
				want = append(want, byDomain[domain]...)
			}
			slices.Sort(want)
			listed := h.methods()
			if !slices.Equal(listed, want) {
				t.Errorf("the ready line lists %q, want %q", listed, want)
			}
			for i, method := range listed {
				h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"no such parameter":1}}`, i, method))
			}
			_ = h.in.Close() // the harness exits
			answers := 0
			for line := range h.lines {
				if v, err := wire.ParseValue(line, wire.Limits{}); err != nil || !v.Path("id").Present() || string(v.Path("error", "code").Raw()) == "-32601" {
					t.Errorf("a second ready line, or a listed method that does not exist: %s", line)
				}
				answers++
			}
			if answers != len(listed) {
				t.Errorf("%d lines after the ready line, want %d", answers, len(listed))
			}
		})
	}
}
