//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// The query of an upstream's URL often contains its key. It is neither printed at the start nor by check, and a client cannot
// replace it.
func TestConfiguredQueryStaysSecretAndFixed(t *testing.T) {
	t.Parallel()
	queries := make(chan string, 1)
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries <- r.URL.RawQuery
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	}))
	t.Cleanup(back.Close)
	g := newGate(t, "version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nupstreams:\n  it:\n    url: "+back.URL+"/mcp?apikey=hunter2secret&t=5\n")
	if said := g.said.String(); strings.Contains(said, "hunter2secret") || !strings.Contains(said, "/mcp?apikey=…&t=…") {
		t.Errorf("the log says %s", said)
	}
	for _, format := range []string{"text", "json"} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "gateway", "check", "--config", g.config, "--format", format).CombinedOutput()
		if err != nil || strings.Contains(string(out), "hunter2secret") || !strings.Contains(string(out), "/mcp?apikey=…") {
			t.Errorf("check says %s: %v", out, err)
		}
	}
	for query, want := range map[string]string{
		"": "apikey=hunter2secret&t=5", "tenant=a": "apikey=hunter2secret&t=5&tenant=a", "apikey=mine&tenant=a": "apikey=hunter2secret&t=5&tenant=a",
		"%61pikey=mine": "apikey=hunter2secret&t=5", "APIKEY=mine": "apikey=hunter2secret&t=5", "a=1;apikey=mine": "apikey=hunter2secret&t=5",
		"apikey[]=mine&a=b=c": "apikey=hunter2secret&t=5&a=b=c",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.address+"/it/?"+query, strings.NewReader(toolCall("1", "x")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if _, err := fetch(req); err != nil {
			t.Fatal(err)
		}
		if got := <-queries; got != want {
			t.Errorf("client sends %q, the server receives %q, want %q", query, got, want)
		}
	}
}

// A server that the gateway starts gets the variables that its settings refer to, and not the secrets of the others.
func TestChildDoesNotGetTheSecretsOfOtherUpstreams(t *testing.T) {
	t.Setenv("TEST_SEARCH_AUTH", "of-search")
	t.Setenv("TEST_FILES_TOKEN", "of-files")
	t.Setenv("TEST_SHARED_TOKEN", "of-both")
	t.Setenv("TEST_DB", "postgres://bob:hunter2@db.example/x")
	t.Setenv("TEST_PLAIN", "plain")
	g := newGate(t, `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams:
  search:
    url: http://127.0.0.1:9/mcp
    headers: {Authorization: "Bearer ${TEST_SEARCH_AUTH}"}
  files:
    command: [badserver]
    env: {API_TOKEN: "${TEST_FILES_TOKEN}", OTHER_TOKEN: "${TEST_SHARED_TOKEN}", DATABASE: "${TEST_DB}", PLACE: "${TEST_PLAIN}/x"}
  it:
    command: [badserver]
    shared: true
    env: {MY_TOKEN: "${TEST_SHARED_TOKEN}"}
`)
	for name, want := range map[string]string{
		"TEST_SEARCH_AUTH": "", "TEST_FILES_TOKEN": "", "API_TOKEN": "", "TEST_DB": "", "TEST_SHARED_TOKEN": "of-both", "MY_TOKEN": "of-both", "TEST_PLAIN": "plain",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.address+"/it/", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getenv","arguments":{"text":"`+name+`"},"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", "getenv")
		got, err := fetch(req)
		if err != nil || !strings.Contains(got, `"text":"`+want+`"`) {
			t.Errorf("%s: the child has %s, want %q: %v", name, got, want, err)
		}
	}
}

// A request with a path of no upstream is refused with a ref, like every failure.
func TestUnknownPathIsRefusedWithARef(t *testing.T) {
	t.Parallel()
	g := newGate(t, "version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nupstreams:\n  it:\n    url: http://127.0.0.1:9/mcp\n")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.address+"/other/", strings.NewReader(toolCall("1", "x")))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fetch(req); err != nil || strings.Contains(got, `"ref":""`) || !strings.Contains(got, `"ref":"`) {
		t.Errorf("client gets %s: %v", got, err)
	}
}
