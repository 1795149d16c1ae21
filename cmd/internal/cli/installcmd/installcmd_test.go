package installcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

func TestOwnCommand(t *testing.T) {
	for self, want := range map[string]string{
		"/home/ann/.npm/_npx/1a2b/node_modules/@candor-mcp/linux-x64/bin/candor": "npx -y candor-mcp",
		"/home/ann/.cache/uv/archive-v0/xyz/bin/candor-mcp":                      "uvx candor-mcp",
		"/srv/bin/candor":                    "/srv/bin/candor",
		"/srv/go-build123/b001/exe/candor":   "",
		`C:\Users\ann\npm\_npx\x\candor.exe`: "npx -y candor-mcp",
	} {
		got, err := ownCommand(self, "linux")
		if strings.Join(got, " ") != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, error %v, want %q", self, got, err, want)
		}
	}
	if got, _ := ownCommand(`C:\Users\ann\npm\_npx\x\candor.exe`, "windows"); strings.Join(got, " ") != "cmd /c npx -y candor-mcp" {
		t.Errorf("on Windows: %q", got)
	}
}

// TestInstallAsksAtTerminal chooses servers by number, and confirms.
func TestInstallAsksAtTerminal(t *testing.T) {
	const text = `{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"},"c":{"command":"c"}}}`
	for answer, want := range map[string][]string{"1, 3\ny\n": {"a", "c"}, "all\nYes\n": {"a", "b", "c"}, "all\nn\n": nil, "1\n\n": nil, "1\n": nil, "\n": nil, "": nil, "4\n": nil, "b\n": nil} {
		home := t.TempDir()
		file := filepath.Join(home, ".cursor", "mcp.json")
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, complaints bytes.Buffer
		env := &term.Env{In: strings.NewReader(answer), Out: term.NewOutput(&out, false), Err: &complaints, Now: time.Now, Interactive: true,
			Getenv: func(name string) string {
				return map[string]string{"HOME": home, "USERPROFILE": home, "XDG_STATE_HOME": filepath.Join(home, "state")}[name]
			}}
		cmd := NewInstall(env)
		cmd.SetArgs([]string{"--command", "candor"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		_ = env.Out.Flush()
		if mistake := answer == "4\n" || answer == "b\n"; (err != nil) != mistake {
			t.Errorf("%q: error %v", answer, err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			if got := strings.Contains(string(data), `["wrap", "--name", "`+name+`", "--", "`+name+`"]`); got != slices.Contains(want, name) {
				t.Errorf("%q: server %s is protected: %t\n%s", answer, name, got, out.String())
			}
		}
	}
}
