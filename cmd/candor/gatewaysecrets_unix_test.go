//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The query of an upstream's URL often contains its key. It is not printed at the start or by check, and a client cannot
// replace it.
func TestConfiguredQueryStaysSecretAndFixed(t *testing.T) {
	t.Parallel()
	queries := make(chan string, 1)
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || strings.Contains(string(body), `"ping"`) {
			return // the gateway's own request at its start
		}
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
		out := printed(t, "gateway", "check", "--format", format, "--config", g.config)
		if strings.Contains(out, "hunter2secret") || !strings.Contains(out, "/mcp?apikey=…") || strings.Contains(out, `"path":"/it/"`) != (format == "json") {
			t.Errorf("check says %s", out)
		}
	}
	for _, query := range []string{"", "tenant=a", "apikey=mine"} {
		if _, err := g.send(t.Context(), "/it/?"+query, toolCall("1", "x")); err != nil {
			t.Fatal(err)
		}
		if got := <-queries; got != "apikey=hunter2secret&t=5" {
			t.Errorf("client sends %q, the server receives %q", query, got)
		}
	}
}

// No server gets the tokens of Candor itself, which protect it from servers.
func TestServersDoNotGetTheTokensOfCandor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("TEST_CONSOLE_TOKEN", "hunter2-console")
	t.Setenv("TEST_CLIENT_TOKEN", "hunter2-client")
	file := filepath.Join(dir, "candor.yaml")
	server := func(name string) []string { return []string{"sh", "-c", "env > " + filepath.Join(dir, name)} }
	line := func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` }
	config := "version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\ntoken: ${TEST_CLIENT_TOKEN}\nupstreams: {it: {command: " + line(server("gateway")) + "}}\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mcp.json"), []byte(`{"mcpServers": {"a": {"command": "sh", "args": `+line(server("client")[1:])+`}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	console := []string{"--console", "--console-token-env", "TEST_CONSOLE_TOKEN"}
	_ = command(t, append(append([]string{"wrap"}, console...), append([]string{"--"}, server("wrap")...)...)...).Run() // the server ends at once
	_ = command(t, append([]string{"doctor", "--config", file, "--from", filepath.Join(dir, "mcp.json"), "--"}, server("doctor")...)...).Run()
	if err := os.Rename(filepath.Join(dir, "gateway"), filepath.Join(dir, "checked")); err != nil {
		t.Error(err)
	}
	router := command(t, "workbench", "dual", "--upstreams", file)
	router.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
		"\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"router_call","arguments":{"tool":"x"}}}` + "\n")
	_ = router.Run()
	if err := os.Rename(filepath.Join(dir, "gateway"), filepath.Join(dir, "router")); err != nil {
		t.Error(err)
	}
	g := gateAt(t, file, console...)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if _, err := g.send(t.Context(), "/it/", hello, "Authorization", "Bearer hunter2-client"); err != nil {
		t.Fatal(err)
	}
	for name, secrets := range map[string]string{"wrap": "-console", "gateway": "-console -client", "checked": "-client", "router": "-client", "client": "-client", "doctor": "-client"} {
		seen, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(seen), "HOME=") {
			t.Errorf("%s: the server was not started: %v", name, err)
		}
		for _, secret := range strings.Fields(secrets) {
			if strings.Contains(string(seen), "hunter2"+secret) {
				t.Errorf("%s: the server has hunter2%s", name, secret)
			}
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
		got, err := g.send(t.Context(), "/it/",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getenv","arguments":{"text":"`+name+`"},"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "getenv")
		if err != nil || !strings.Contains(got, `"text":"`+want+`"`) {
			t.Errorf("%s: the child has %s, want %q: %v", name, got, want, err)
		}
	}
}
