package dual_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// upstreamArg makes the test binary an MCP server for the router: its next argument selects how tools/call is answered,
// and the one after it names a file to which every call is appended.
const upstreamArg = "serve-as-upstream"

// serveAsUpstream answers on standard output. The tool read is declared read-only, once is declared idempotent; write
// declares nothing. A call of exit ends the process before it answers.
func serveAsUpstream(mode, log string) {
	if _, err := os.Stat(log + ".away"); err == nil && mode == "stays-away" {
		return
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if _, err := os.Stat(log + ".ended"); err != nil && mode == "idle" {
				noteCall(log+".ended", mode)
			}
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"upstream","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
				`{"name":"once","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}},` +
				`{"name":"write","inputSchema":{"type":"object"}},{"name":"exit","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			noteCall(log, mode+" "+m.Params.Name)
			if mode == "hangs" {
				continue
			}
			result = answerAs(mode, m.Params.Name)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

func noteCall(log, line string) {
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close() //nolint:errcheck // the write has its own error
	if _, err := f.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

// answerAs returns the result of a call. One mode ends the process.
func answerAs(mode, tool string) string {
	if tool == "exit" {
		mode = "dies"
	}
	switch mode {
	case "dies":
		os.Exit(3)
	case "garbage":
		return `}{`
	case "masked": // a failure as data of a success, without Candor's envelope
		return `{"content":[{"type":"text","text":"x"}],"structuredContent":{"ok":true,"data":{"ok":false,"error":{"code":"E_BACKEND","message":"internal server error"}}}}`
	case "suspect": // text that looks like a failure, but may be a correct result of a tool that returns texts
		return `{"content":[{"type":"text","text":"Error: internal server error"}]}`
	case "both":
		return `{"content":[{"type":"text","text":"a note beside the data"}],"structuredContent":{"n":1}}`
	case "deep":
		return `{"content":[],"structuredContent":{"a":` + strings.Repeat("[", 121) + strings.Repeat("]", 121) + `}}`
	}
	return `{"content":[{"type":"text","text":"fine"}]}`
}

// fake returns the configuration of an upstream that answers according to a mode. It has the name of the mode.
func (p *place) fake(mode string, lines ...string) string {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	entry := fmt.Sprintf("  %s:\n    command: [%q, %q, %q, %q]", mode, self, upstreamArg, mode, p.callLog())
	for _, line := range lines {
		entry += "\n    " + line
	}
	return entry
}

func (p *place) callLog() string { return filepath.Join(filepath.Dir(p.state), "calls.log") }

// calls returns the calls that the fake upstreams received, as "mode tool", and clears them.
func (p *place) calls() []string {
	p.t.Helper()
	text, err := os.ReadFile(p.callLog())
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	_ = os.Remove(p.callLog())
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// awaitEnd waits until a fake upstream was asked to exit.
func (p *place) awaitEnd(mode string) {
	p.t.Helper()
	for deadline := time.Now().Add(servertest.Timeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if text, _ := os.ReadFile(p.callLog() + ".ended"); strings.Contains(string(text), mode) {
			return
		}
	}
	p.t.Fatalf("%s did not end", mode)
}

// insert replaces a text in a file.
func insert(t testing.TB, name, old, text string) {
	t.Helper()
	all, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(all), old) {
		t.Fatalf("%s has no %q: %v", name, old, err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(all), old, text, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
