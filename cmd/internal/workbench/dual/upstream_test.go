package dual_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor/internal/scripted"
	"github.com/candor-mcp/candor/wire"
)

// upstreamArg makes the test binary an MCP server for the router: its next argument selects how tools/call is answered,
// and the one after it names a file to which every call is appended.
const upstreamArg = "serve-as-upstream"

// serveAsUpstream answers on standard output. The tool read is declared read-only, once is declared idempotent; write
// declares nothing. A call of exit ends the process before it answers.
func serveAsUpstream(mode, log string) {
	only := "" // a tool that only this server has
	if mode == "other" {
		only = `,{"name":"graph","inputSchema":{"type":"object"}}`
	}
	s := &scripted.Server{
		Name: "upstream",
		Tools: `{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
			`{"name":"once","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}},` +
			`{"name":"write","inputSchema":{"type":"object"}},{"name":"exit","inputSchema":{"type":"object"}}` + only,
		Script: func(m *wire.Message) (string, bool) {
			if !m.MethodIs("tools/call") {
				return "", false
			}
			tool, _ := m.Params().Path("name").Str()
			noteCall(log, mode+" "+tool)
			if tool == "grahp" {
				return `"error":{"code":-32602,"message":"Unknown tool"}`, true
			}
			if mode == "hangs" {
				return "", true
			}
			return `"result":` + answerAs(mode, tool), true
		},
	}
	_ = s.Serve(os.Stdin, os.Stdout)
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
	case "other":
		return `{"content":[{"type":"text","text":"{\"f\":1.0,\"n\":12345678901234567890}"}],"structuredContent":{"n":12345678901234567890,"f":1.0}}`
	case "both":
		return `{"content":[{"type":"text","text":"a note beside the data"}],"structuredContent":{"n":1}}`
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
