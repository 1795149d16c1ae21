package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// emitted is one input line for decode and the expected code.
type emitted struct {
	code candor.Code
	line string
}

//go:embed testdata/emit.txt
var emitText string

// TestEveryActiveCodeIsEmitted sends one line per active code through the command and checks the code in its output. An
// active code is one that this release can emit: a code that neither a line here nor a test of another package
// emits must be reserved.
func TestEveryActiveCodeIsEmitted(t *testing.T) {
	cases := append(ownCodes(t), otherCodes()...)
	var input strings.Builder
	for _, c := range cases {
		input.WriteString(c.line + "\n")
	}
	lines := decodeJSON(t, input.String())
	if len(lines) != len(cases) {
		t.Fatalf("%d lines in, %d out", len(cases), len(lines))
	}
	seen := map[string]bool{}
	for i, c := range cases {
		seen[c.code.String()] = t.Run(c.code.String(), func(t *testing.T) {
			var got struct {
				Error *struct{ Domain, Code string }
			}
			if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
				t.Fatal(err)
			}
			if got.Error == nil || got.Error.Domain+"/"+got.Error.Code != c.code.String() {
				t.Errorf("%s is not emitted for\n%.300s\nbut\n%.300s", c.code, c.line, lines[i])
			}
		})
	}
	for _, name := range emittedElsewhere(t) {
		seen[name] = true
	}
	for code := range candor.Codes() {
		active := code.Info().Status == "active"
		if active && !seen[code.String()] {
			t.Errorf("%s is active, and no line makes decode emit it: mark it reserved or write the line", code)
		}
		if !active && seen[code.String()] {
			t.Errorf("%s is %s, and a test emits it: mark it active", code, code.Info().Status)
		}
	}
}

// emittedElsewhere reads the lists of codes that tests of other packages emit over their transports.
func emittedElsewhere(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../../*/testdata/emits.txt", "../internal/*/testdata/emits.txt"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, found, err)
		}
		files = append(files, found...)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "#") {
				names = append(names, name)
			}
		}
	}
	return names
}

// ownCodes reads testdata/emit.txt.
func ownCodes(t *testing.T) []emitted {
	t.Helper()
	big := strings.NewReplacer("@17MiB@", strings.Repeat("x", 17<<20), "@200-deep@", strings.Repeat("[", 200)+strings.Repeat("]", 200))
	var out []emitted
	for line := range strings.Lines(emitText) {
		symbol, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(symbol, "#") || !ok {
			continue
		}
		code, known := candor.LookupCode("candor", symbol)
		if !known {
			t.Fatalf("emit.txt: no code is called candor/%s", symbol)
		}
		out = append(out, emitted{code, big.Replace(text)})
	}
	return out
}

// otherCodes returns every active code of the other domains, encoded as a server of that domain does.
func otherCodes() []emitted {
	var out []emitted
	for code := range candor.Codes() {
		if code.Domain() == "candor" || code.Info().Status != "active" {
			continue
		}
		out = append(out, emitted{code, wireOf(code)})
	}
	return out
}

// wireOf avoids encodings without a domain for symbols that several domains share.
func wireOf(code candor.Code) string {
	shared := false
	for other := range candor.Codes() {
		shared = shared || other != code && (other.Symbol() == code.Symbol() || slices.Contains(other.Info().Aliases, code.Symbol()))
	}
	switch domain := code.Domain(); {
	case domain == "kaiza" && shared:
		return toolText(fmt.Sprintf(`{"error_code":%q,"human_message":%q,"role":null,"session_id":null,"workspace_root":null,"tool_name":"t",`+
			`"invariant_id":null,"phase_id":null,"plan_hash":null,"cause":null,"timestamp":"2026-01-02T15:04:05.000Z"}`, code.Symbol(), code.Info().Sentence))
	case domain == "kaiza":
		return toolText("[" + code.Symbol() + "] " + code.Info().Sentence)
	case domain == "workrail", domain == "blockers" && !shared:
		return toolText(fmt.Sprintf(`{"code":%q,"message":%q,"retry":{"kind":"not_retryable"}}`, code.Symbol(), code.Info().Sentence))
	case domain == "dual":
		return toolText(fmt.Sprintf(`{"ok":false,"error":{"code":%q,"message":%q}}`, code.Symbol(), code.Info().Sentence))
	default:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q,"data":{"domain":%q,"symbol":%q,"retryable":false}}}`,
			code.Number(), code.Info().Sentence, domain, code.Symbol())
	}
}

func toolText(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return err.Error() // not reached: a string is always JSON
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s}],"isError":true}}`, quoted)
}

// decodeJSON runs the program over its standard streams. Lines that are not JSON are expected, so exit code 2 is allowed.
func decodeJSON(t *testing.T, input string, args ...string) []string {
	t.Helper()
	cmd := command(t, append([]string{"decode", "--json"}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != term.ExitUsage {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// command returns a command that runs this test binary as candor; see TestMain.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Args[0] = term.ProgramName
	return cmd
}
