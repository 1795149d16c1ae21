package boundary_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
)

func TestMissingTokenIsRefused(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "guarded"}, nil)
	h := httptest.NewServer(boundary.Handler(server, boundary.Options{Token: "correct horse"}))
	t.Cleanup(h.Close)
	for said, want := range map[string]int{"": 401, "Bearer wrong": 401, "Basic correct horse": 401, "Bearer correct horse": 200} {
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if said != "" {
			r.Header.Set("Authorization", said)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close() //nolint:errcheck // it was only read
		if answer.StatusCode != want || want == 401 && (!strings.Contains(string(text), "TOKEN_REQUIRED") || answer.Header.Get("WWW-Authenticate") == "") {
			t.Errorf("%q got %d: %s", said, answer.StatusCode, text)
		}
	}
}
