package zoo_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
	"github.com/candor-mcp/candor/internal/mcpclient"
)

func toolCall(era, tool string) string {
	return request(era, "5", "tools/call", `{"name":"`+tool+`","arguments":{"name":"zz","mode":"full"}}`)
}

func TestStatusGoesWithTheNumberUnlessADefectSaysOtherwise(t *testing.T) {
	unknown := func(era string) string { return request(era, "5", "zz/none", `{}`) }
	for _, row := range []struct {
		defect, body string
		status       int
	}{
		{"", unknown(era2025), 200}, {"", unknown(era2026), 404}, {"", `{"jsonrpc":`, 400}, {"", toolCall(era2026, "honest"), 200},
		{"", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202},
		{"http-ok", unknown(era2026), 200}, {"http-ok", `{"jsonrpc":`, 200},
		{"http-500", unknown(era2025), 500}, {"http-500", unknown(era2026), 500}, {"http-500", toolCall(era2026, "honest"), 200},
	} {
		o := zoo.Options{Defects: []string{zoo.NoDefect}}
		if row.defect != "" {
			o.Defects = []string{row.defect}
		}
		server := httptest.NewServer(zoo.Handler(o))
		got, err := mcpclient.OpenHTTP(server.URL, mcpclient.HTTPOptions{}).Ask(t.Context(), http.MethodPost, []byte(row.body), nil)
		if err != nil || got.Status != row.status {
			t.Errorf("%q: %s has status %d, want %d: %s %v", row.defect, row.body, got.Status, row.status, got.Data, err)
		}
		server.Close()
	}
}
