//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
)

// remoteVariable makes this binary act as npx.
const remoteVariable = "CANDOR_TEST_MCP_REMOTE"

func init() {
	if os.Getenv(remoteVariable) != "" {
		actAsRemote()
	}
}

// actAsRemote does what `npx -y mcp-remote URL` does, without a log-in: it sends each line to the URL and prints the answer.
func actAsRemote() {
	if len(os.Args) != 4 || os.Args[1] != "-y" || os.Args[2] != "mcp-remote" {
		fmt.Fprintln(os.Stderr, "unexpected arguments:", os.Args[1:])
		os.Exit(9)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer, err := http.Post(os.Args[3], "application/json", strings.NewReader(lines.Text()))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = io.Copy(os.Stdout, answer.Body)
		_ = answer.Body.Close()
	}
	os.Exit(0)
}

// TestWrapReachesAURLThroughMCPRemote runs the command line that candor install --remote writes, with a fake npx.
func TestWrapReachesAURLThroughMCPRemote(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct{ ID json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&call)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[{"type":"text","text":"429 Too Many Requests, retry-after: 30"}]}}`+"\n", call.ID)
	}))
	t.Cleanup(server.Close)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\n" + remoteVariable + "=1 exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "npx"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	p := launch(t, strings.Fields(clientconfig.BridgeCommand(server.URL))[1:]...)
	p.say(toolCall("1", "buy"))
	if answer := p.hear(); !strings.Contains(answer, `"code":"UPSTREAM_RATE_LIMITED"`) || !strings.Contains(answer, "429 Too Many Requests") {
		t.Errorf("answered %s: %s", answer, p.said)
	}
	if codes := p.recorded(); codes["UPSTREAM_RATE_LIMITED"] != 1 {
		t.Errorf("recorded %v", codes)
	}
}

// TestLoginsThatTheGatewayCannotPassOn names the way round at the start of the gateway, in init and in doctor.
func TestLoginsThatTheGatewayCannotPassOn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://h/.well-known/oauth-protected-resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	around := clientconfig.BridgeCommand(server.URL + "/mcp")
	p := launch(t, "gateway", "--listen", "127.0.0.1:0", "--upstream", "linear="+server.URL+"/mcp")
	p.said.await(around, 1)
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != 0 {
		t.Errorf("exit code %d: %s", code, p.said)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"mcpServers":{"linear":{"url":"` + server.URL + `/mcp"},"local":{"command":"x"}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, made, _ := watched("", nil, "init", "--from", file, "--dry-run", "--json")
	if code != 0 || !strings.Contains(made, `"left_out":[{"name":"linear"`) || !strings.Contains(made, around) {
		t.Errorf("init: %d, %s", code, made)
	}
	_, found, _ := watched("", nil, "doctor", "--from", file, "--ledger", "none")
	if !strings.Contains(found, "asks for a log-in with OAuth") || !strings.Contains(found, around) {
		t.Errorf("doctor: %s", found)
	}
}
