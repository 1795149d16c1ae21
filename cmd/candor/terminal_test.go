package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/decodecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// watched runs a command as if standard output were a terminal.
func watched(input string, vars map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	env := &term.Env{
		In: strings.NewReader(input), Out: term.NewOutput(&out, false), Err: &complaints, Terminal: true,
		Getenv: func(name string) string { return vars[name] },
		Now:    func() time.Time { return decodecmd.SampleTime },
	}
	code = cli.Run(env, args)
	return code, out.String(), complaints.String()
}

const threeAnswers = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fine"}]}}
{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"method not found"}}
{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"success\":false,\"error\":\"quota exceeded\"}"}]}}
`

func TestTerminalGetsSummaryAndColour(t *testing.T) {
	code, out, _ := watched(threeAnswers, nil, "decode")
	if code != term.ExitOK || !strings.Contains(out, "\x1b[") {
		t.Errorf("exit code %d, output %q", code, out)
	}
	_, out, _ = watched(threeAnswers, map[string]string{"NO_COLOR": "1"}, "decode")
	if strings.Contains(out, "\x1b") || !strings.HasSuffix(out, "\n3 responses: 1 clean, 1 protocol, 1 suspected\n") {
		t.Errorf("output %q", out)
	}
	_, out, _ = watched(threeAnswers, nil, "decode", "--json")
	if strings.Contains(out, "\x1b") || strings.Count(out, "\n") != 3 {
		t.Errorf("JSON is for programs, wherever it is printed: %q", out)
	}
}

// TestOddArgumentsDoNotPanic runs every command with odd arguments; each ends with one of the three codes.
func TestOddArgumentsDoNotPanic(t *testing.T) {
	t.Parallel()
	odd := []string{"", "-", "--", "-32602", "−", "\x00", "--json=maybe", "--to=", "%s%d", "/", "candor/", strings.Repeat("x", 5000)}
	for _, name := range []string{"demo", "decode", "translate", "codes", "explain", "version", "help", "completion", "man", ""} {
		for _, arg := range odd {
			code, _, complaints := watched("{}\n", nil, name, arg)
			if code != term.ExitOK && code != term.ExitUsage {
				t.Errorf("%s %q ends with %d", name, arg, code)
			}
			if code == term.ExitUsage && name != "translate" && !strings.HasPrefix(complaints, term.ProgramName) {
				t.Errorf("%s %q says %q", name, arg, complaints)
			}
		}
	}
}
