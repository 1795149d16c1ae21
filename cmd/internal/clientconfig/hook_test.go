package clientconfig

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hookFiles returns the files for the hooks in a home folder with both clients.
func hookFiles(t *testing.T) (claude, copilot File) {
	t.Helper()
	home := t.TempDir()
	for _, dir := range []string{".claude", ".copilot"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	files := DiscoverHooks(System{OS: "linux", Home: home, Getenv: func(string) string { return "" }})
	if len(files) != 2 || files[0].Err != nil || files[1].Err != nil {
		t.Fatalf("found %+v", files)
	}
	return files[0], files[1]
}

const claudeHook = `"PostToolUseFailure": [{"hooks": [{"type": "command", "command": "/usr/local/bin/candor", "args": ["hook", "claude"]}]}]`

// TestInstallHookCreatesTheFile creates both files, repairs one, and removes them.
func TestInstallHookCreatesTheFile(t *testing.T) {
	t.Parallel()
	claude, copilot := hookFiles(t)
	for f, want := range map[*File]string{
		&claude: "{\n  \"hooks\": {" + claudeHook + "}\n}\n",
		&copilot: "{\n  \"hooks\": {\"postToolUseFailure\": [{\"type\": \"command\", \"exec\": \"/usr/local/bin/candor\", \"args\": [\"hook\", \"copilot\"]}]}," +
			"\n  \"version\": 1\n}\n",
	} {
		e := testEditor()
		install(t, e, *f)
		if now := string(readFile(t, f.Path)); now != want {
			t.Errorf("%s:\n%s\nwant\n%s", f.Path, now, want)
		}
		checkMode(t, f.Path, 0o600)
		if r := install(t, e, *f); r.Written {
			t.Errorf("a second run changed %+v", r)
		}
		gone := strings.Replace(want, "/usr/local/bin/candor", "/nonexistent/candor", 1)
		writeFile(t, f.Path, []byte(gone), 0o600)
		if servers, err := reread(*f); err != nil || servers[0].Status != Broken {
			t.Errorf("%v, %+v", err, servers)
		}
		e.Candor = []string{"npx", "-y", "candor-mcp"}
		install(t, e, *f)
		if now := string(readFile(t, f.Path)); !strings.Contains(now, `: "npx", "args": ["-y", "candor-mcp", "hook", `) {
			t.Errorf("repaired:\n%s", now)
		}
		uninstall(t, e, *f)
		if names := namesIn(t, filepath.Dir(f.Path)); len(names) != 0 {
			t.Errorf("files left behind: %q", names)
		}
	}
}

// TestInstallHookKeepsSettings adds the hook at each level of an existing file, and removes it to the same bytes.
func TestInstallHookKeepsSettings(t *testing.T) {
	t.Parallel()
	const entry = `{"hooks": [{"type": "command", "command": "/usr/local/bin/candor", "args": ["hook", "claude"]}]}`
	for before, want := range map[string]string{
		`{}`:     "{\n  \"hooks\": {" + claudeHook + "}}",
		"{\n}\n": "{\n  \"hooks\": {" + claudeHook + "}\n}\n",
		"\xef\xbb\xbf// mine\n{\n\t\"model\": \"x\", // y\n}\n": "\xef\xbb\xbf// mine\n{\n  \"hooks\": {" + claudeHook + "},\n\t\"model\": \"x\", // y\n}\n",
		`{"hooks": {}}`:                          `{"hooks": {` + claudeHook + `}}`,
		`{"hooks":{"Stop":[]}}`:                  `{"hooks":{` + claudeHook + `, "Stop":[]}}`,
		`{"hooks": {"PostToolUseFailure": [ ]}}`: `{"hooks": {"PostToolUseFailure": [` + entry + ` ]}}`,
		`{"hooks": {"PostToolUseFailure": [{"matcher": "", "hooks": []}]}}`: `{"hooks": {"PostToolUseFailure": [` + entry + `, {"matcher": "", "hooks": []}]}}`,
	} {
		f, _ := hookFiles(t)
		writeFile(t, f.Path, []byte(before), 0o640)
		e := testEditor()
		install(t, e, f)
		if now := string(readFile(t, f.Path)); now != want {
			t.Errorf("%s: got\n%s\nwant\n%s", before, now, want)
		}
		uninstall(t, e, f)
		if now := string(readFile(t, f.Path)); now != before {
			t.Errorf("after uninstall\n%s\nwant\n%s", now, before)
		}
		checkMode(t, f.Path, 0o640)
		if names := namesIn(t, filepath.Dir(f.Path)); len(names) != 1 {
			t.Errorf("files left behind: %q", names)
		}
	}
}

// TestInstallHookRefuses leaves settings alone that it cannot change safely, and a hook that was written by hand.
func TestInstallHookRefuses(t *testing.T) {
	t.Parallel()
	byHand := `{"hooks": {"PostToolUseFailure": [{"matcher": "Bash", "hooks": [{"command": "candor", "args": ["hook", "claude"], "type": "command"}]}]}}`
	for text, want := range map[string]string{
		``:                                    "the file is empty",
		`{"hooks": null}`:                     `"hooks" is not an object`,
		`{"hooks": {"PostToolUseFailure":1}}`: `"PostToolUseFailure" is not an array`,
		`[]`:                                  "not an object",
		byHand:                                "",
	} {
		f, _ := hookFiles(t)
		writeFile(t, f.Path, []byte(text), 0o600)
		r, err := testEditor().Install(context.Background(), f, every)
		if want == "" && (err != nil || r.Written) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %+v, want %q", text, err, r, want)
		}
		if now := string(readFile(t, f.Path)); now != text {
			t.Errorf("the file was changed:\n%s", now)
		}
	}
	f, _ := hookFiles(t)
	writeFile(t, f.Path, []byte(byHand), 0o600)
	if _, err := testEditor().Uninstall(context.Background(), f, every); err == nil || !strings.Contains(err.Error(), "remove it by hand") {
		t.Errorf("error %v", err)
	}
}
