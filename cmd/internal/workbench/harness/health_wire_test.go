package harness_test

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/wire"
)

var healthAddress = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/healthz`)

// healthAt returns the address of the health endpoint, which the harness prints on standard error.
func (h *harness) healthAt() string {
	h.t.Helper()
	var found []string
	wait.Until(h.t, "the address of the health endpoint", func() bool {
		found = healthAddress.FindStringSubmatch(h.said.String())
		return found != nil
	})
	return found[1]
}

func get(t *testing.T, address, path, host, origin string) (status int, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		request.Host = host
	}
	if origin != "" {
		request.Header.Set("Origin", origin)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(data)
}

func TestHealthEndpoint(t *testing.T) {
	t.Parallel()
	for _, mcp := range []bool{false, true} {
		h := start(t, setup{mcp: mcp, env: []string{"MCP_HEALTH_PORT=0", "MCP_SERVER_NAME=memory", "MCP_ERROR_METRICS=1"}})
		h.call("sys/ping", `{"x":1}`).fails(1000, "common/E_INVALID_PARAMS")
		at := h.healthAt()
		status, header, body := get(t, at, "/healthz", "", "")
		v, err := wire.ParseValue([]byte(body), wire.Limits{})
		if err != nil || status != http.StatusOK || header.Get("Content-Type") != "application/json" || !v.Path("server").Is("memory") {
			t.Errorf("%d %v %s", status, header, body)
		}
		if _, ok := v.Path("uptimeMs").Int64(); !ok || !v.Path("domains").Present() || v.Path("methods").Len() < 4 {
			t.Errorf("%s", body)
		}
		if !mcp {
			var listed []string
			for m := range v.Path("methods").Elements() {
				name, _ := m.Str()
				listed = append(listed, name)
			}
			if !slices.Equal(listed, h.methods()) {
				t.Errorf("methods %q, the ready line has %q", listed, h.methods())
			}
		}
		for _, path := range []string{"/", "/metrics/", "/healthz/x"} {
			if status, _, _ := get(t, at, path, "", ""); status != http.StatusNotFound {
				t.Errorf("%s: %d", path, status)
			}
		}
		h.end()
	}
}

// TestHealthEndpointRefusesWebPages sends the request of a browser for a page of a host name that resolves to this machine.
func TestHealthEndpointRefusesWebPages(t *testing.T) {
	t.Parallel()
	h := start(t, setup{env: []string{"MCP_HEALTH_PORT=0"}})
	at := h.healthAt()
	for _, from := range []struct{ host, origin string }{{"evil.example", ""}, {"", "https://evil.example"}, {"", "null"}} {
		if status, _, body := get(t, at, "/healthz", from.host, from.origin); status != http.StatusForbidden || strings.Contains(body, "methods") {
			t.Errorf("%+v: %d %s", from, status, body)
		}
	}
	if status, _, _ := get(t, at, "/healthz", "localhost", ""); status != http.StatusOK {
		t.Errorf("localhost: %d", status)
	}
}
