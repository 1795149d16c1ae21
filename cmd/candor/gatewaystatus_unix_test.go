//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/gatewaycmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/scripted"
	"github.com/candor-mcp/candor/wire"
)

// newLooseServer starts an MCP server over HTTP with a tool that checks less than its schema requires.
func newLooseServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := &scripted.Server{
		Name: "loose", Tools: `{"name":"search","inputSchema":{"type":"object","additionalProperties":false,"required":["query"],"properties":{"query":{"type":"string"},"limit":{"type":"integer"}}}}`,
		Script: func(m *wire.Message) (string, bool) { return scripted.Text("fine", false), m.MethodIs("tools/call") },
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", "s1")
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// post sends a request in the session and returns the body of the answer.
func (g *gate) post(t *testing.T, body string) string {
	t.Helper()
	answer, err := g.send(t.Context(), "/it/", body, "Mcp-Session-Id", "s1")
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (g *gate) search(t *testing.T, id int, arguments string) string {
	t.Helper()
	return g.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":%s}}`, id, arguments))
}

func newLooseGate(t *testing.T, settings string) *gate {
	t.Helper()
	g := newGate(t, configText(newLooseServer(t).URL, settings))
	g.post(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	g.post(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	return g
}

// printed runs the program and returns its output.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v", args, err)
	}
	return string(out)
}

func TestGatewayStatusShowsCalls(t *testing.T) {
	t.Parallel()
	g := newLooseGate(t, "")
	for i := range 3 {
		if answer := g.search(t, 10+i, `{"query":"a","limit":"20"}`); strings.Contains(answer, "isError") {
			t.Fatalf("refused: %s", answer)
		}
	}
	if answer := g.search(t, 20, `{}`); !strings.Contains(answer, "INVALID_ARGUMENTS") {
		t.Errorf("forwarded: %s", answer)
	}
	admin := strings.TrimPrefix(g.admin, "http://")
	text := printed(t, "gateway", "status", "--admin", admin)
	for _, want := range []string{
		"UPSTREAM  BREAKER  CALLS  FAILED", "it        closed   6      1 (16.7 %)  0       0          0       ", " ms  ", "s ago\n",
		"/it/ loose 1, MCP 2025-11-25, annotate, validation lenient, 6 calls, 0 open, 0 late responses\n",
		"  last failure ", "candor/INVALID_ARGUMENTS of search, ref ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	var status gatewaycmd.GatewayStatus
	if err := json.Unmarshal([]byte(printed(t, "gateway", "status", "--admin", admin, "--json")), &status); err != nil {
		t.Fatal(err)
	}
	if h := status.Upstreams[0].Health; h.Calls != 6 || h.FailedCalls != 1 || h.Recent.Calls != 3 || h.Recent.P50 <= 0 || h.Breaker.State != "closed" || h.LastSuccess == nil {
		t.Errorf("health %+v", h)
	}
	if status.Ledger == nil || status.Ledger.Recorded == 0 || status.Started.IsZero() {
		t.Errorf("%+v", status)
	}
}

func TestGatewayStatusShowsTroubleOfServers(t *testing.T) {
	t.Parallel()
	g := newGate(t, `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams:
  it:
    url: http://127.0.0.1:9/mcp
    breaker: {failures: 2, rest: 5m}
  dies:
    command: [sh, -c, "exit 7"]
    restart: 1
`)
	for i := range 3 {
		if answer, err := g.call(t.Context(), i, "echo"); err != nil || !strings.Contains(answer, "isError") {
			t.Fatalf("answered %s, %v", answer, err)
		}
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if answer, err := g.send(t.Context(), "/dies/", hello); err != nil || !strings.Contains(answer, "UPSTREAM_GONE") {
		t.Fatalf("answered %s, %v", answer, err)
	}
	admin := strings.TrimPrefix(g.admin, "http://")
	text := printed(t, "gateway", "status", "--admin", admin)
	for _, want := range []string{
		`it        open \d+s +3      3 \(100 %\)`, `  breaker open since \d+s ago, opened 1 time, next trial in 4m\d+s\n`, "candor/UPSTREAM_UNREACHABLE of echo",
		`dies      closed +1      1 \(100 %\)`, "last exit .*exited with code 7",
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if text := printed(t, "gateway", "status", "dies", "--admin", admin); strings.Contains(text, "/it/") || !strings.Contains(text, "/dies/") {
		t.Errorf("the status of one upstream is %s", text)
	}
}
