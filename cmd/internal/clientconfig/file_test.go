package clientconfig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlaces compares the paths of every client on every system with the documents of the clients.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		golden, os string
		env        map[string]string
	}{
		{"linux", "linux", nil},
		{"linux-variables", "linux", map[string]string{"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/codex", "CLAUDE_CONFIG_DIR": "/claude", "GEMINI_CLI_HOME": "/gemini", "COPILOT_HOME": "/copilot",
			"CLINE_DIR": "/cline", "GROK_HOME": "/grok", "KIMI_CODE_HOME": "/kimi", "PI_CODING_AGENT_DIR": "/pi"}},
		{"darwin", "darwin", map[string]string{"XDG_CONFIG_HOME": "/x"}},
		{"windows", "windows", map[string]string{"APPDATA": "/roaming", "LOCALAPPDATA": "/local"}},
		{"windows-bare", "windows", nil},
	} {
		s := System{OS: c.os, Home: "/home/ann", Folder: "/project", Getenv: func(name string) string { return c.env[name] }}
		var b strings.Builder
		for _, client := range Clients() {
			user, project := client.Places(s)
			for _, path := range append(user, project...) {
				fmt.Fprintf(&b, "%-15s %s\n", client.ID, filepath.ToSlash(path))
			}
		}
		golden := filepath.Join("testdata", "places", c.golden+".txt")
		if *update {
			writeFile(t, golden, []byte(b.String()), 0o600)
		}
		if want := string(readFile(t, golden)); b.String() != want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.golden, b.String(), want)
		}
	}
	nowhere := System{OS: "linux", Getenv: func(string) string { return "" }}
	for _, c := range Clients() {
		if user, project := c.Places(nowhere); len(user)+len(project) > 0 || c.UserFile(nowhere) != "" {
			t.Errorf("%s without a home folder: %q %q", c.ID, user, project)
		}
	}
}

// TestInstallFollowsLinks changes the file behind a chain of links and keeps the links.
func TestInstallFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, _ := faultFile(t, dir)
	dotfiles := filepath.Join(dir, "dotfiles")
	if err := os.Mkdir(dotfiles, 0o700); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(dotfiles, "real.json")
	for _, err := range []error{os.Rename(f.Path, real), os.Symlink("real.json", filepath.Join(dotfiles, "second.json"))} {
		if err != nil {
			t.Skipf("links: %v", err)
		}
	}
	if err := os.Symlink(filepath.Join("..", "dotfiles", "second.json"), f.Path); err != nil {
		t.Skipf("links: %v", err)
	}
	e := testEditor()
	r := install(t, e, f)
	resolved, err := filepath.EvalSymlinks(dotfiles)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(r.Backup) != resolved {
		t.Errorf("backup %s is not in %s", r.Backup, resolved)
	}
	if info, err := os.Lstat(f.Path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if !strings.Contains(string(readFile(t, real)), "candor") {
		t.Error("the file behind the link was not changed")
	}
	uninstall(t, e, f)
	if string(readFile(t, real)) != faultInput {
		t.Error("the file behind the link was not restored")
	}
}

// TestInstallRefuses leaves files alone that it cannot replace safely.
func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, f File)
		want    string
	}{
		"read-only": {func(t *testing.T, f File) {
			t.Helper()
			if err := os.Chmod(f.Path, 0o444); err != nil {
				t.Fatal(err)
			}
		}, "is read-only"},
		"hard link": {func(t *testing.T, f File) {
			t.Helper()
			if err := os.Link(f.Path, f.Path+"2"); err != nil || os.PathSeparator != '/' {
				t.Skip("hard links")
			}
		}, "2 hard links"},
		"syntax": {func(t *testing.T, f File) {
			t.Helper()
			writeFile(t, f.Path, []byte(`{"mcpServers": {"a": {"command": "a" "args": []}}}`), 0o600)
		}, "line 1, column 38: invalid character"},
		"two tables of servers": {func(t *testing.T, f File) {
			t.Helper()
			writeFile(t, f.Path, []byte(`{"mcpServers": {"a": {"command": "a"}}, "mcpServers": {}}`), 0o600)
		}, `"mcpServers" occurs twice`},
		"folder": {func(t *testing.T, f File) {
			t.Helper()
			if err := os.Remove(f.Path); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(f.Path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			f, _ := faultFile(t, dir)
			c.prepare(t, f)
			before := namesIn(t, filepath.Dir(f.Path))
			content, _ := os.ReadFile(f.Path)
			_, err := testEditor().Install(context.Background(), f, every)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if after := namesIn(t, filepath.Dir(f.Path)); len(after) != len(before) {
				t.Errorf("files %q, want %q", after, before)
			}
			if now, _ := os.ReadFile(f.Path); string(now) != string(content) {
				t.Errorf("the file was changed:\n%s", now)
			}
		})
	}
}

// TestDiscoverReportsBrokenLink lists a file that exists by name only.
func TestDiscoverReportsBrokenLink(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.Symlink("missing", filepath.Join(home, ".claude.json")); err != nil {
		t.Skipf("links: %v", err)
	}
	files := Discover(System{OS: "linux", Home: home, Folder: home, Getenv: func(string) string { return "" }})
	if len(files) != 1 || files[0].Err == nil || !strings.Contains(files[0].Err.Error(), "a link to a file that does not exist") {
		t.Errorf("found %+v", files)
	}
}

// TestDiscoverFindsPatterns finds the files of VS Code's profiles and of packages for Windows, also below a folder whose name has
// the characters of a pattern, and a file of the project once.
func TestDiscoverFindsPatterns(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "a[n]n*")
	const packaged = "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json"
	for _, name := range []string{".config/Code/User/mcp.json", ".config/Code/User/profiles/-1a2b/mcp.json", ".config/Code - Insiders/User/mcp.json",
		".vscode/mcp.json", ".cursor/mcp.json", packaged} {
		name = filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, []byte(`{"servers": {"a": {"command": "a"}}, "theme": 1, "theme": 2}`), 0o600)
	}
	find := func(system string) []string {
		var got []string
		for _, f := range Discover(System{OS: system, Home: home, Folder: home, Getenv: func(string) string { return "" }}) {
			rel, _ := filepath.Rel(home, f.Path)
			got = append(got, fmt.Sprintf("%s %t %d %v", filepath.ToSlash(rel), f.Project, len(f.Servers), f.Err))
		}
		return got
	}
	want := []string{".cursor/mcp.json false 0 <nil>", ".config/Code/User/mcp.json false 1 <nil>", ".config/Code/User/profiles/-1a2b/mcp.json false 1 <nil>",
		".config/Code - Insiders/User/mcp.json false 1 <nil>", ".vscode/mcp.json true 1 <nil>"}
	if got := find("linux"); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	want = []string{packaged + " false 0 <nil>", ".cursor/mcp.json false 0 <nil>", ".vscode/mcp.json true 1 <nil>"}
	if got := find("windows"); !slices.Equal(got, want) {
		t.Errorf("found on Windows %q, want %q", got, want)
	}
}

// A file of the project has a lower limit, because others may have written it, and a relative folder in a variable is
// no folder of the user.
func TestProjectFilesAreNotTrusted(t *testing.T) {
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	large := []byte(`{"mcpServers": {}, "x": "` + strings.Repeat("x", 256<<10) + `"}`)
	for _, dir := range []string{home, folder} {
		if err := os.Mkdir(filepath.Join(dir, ".cursor"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, ".cursor", "mcp.json"), large, 0o600)
	}
	files := Discover(System{OS: "linux", Home: home, Folder: folder, Getenv: func(string) string { return "" }})
	if len(files) != 2 || files[0].Err != nil || files[1].Err == nil || !strings.Contains(files[1].Err.Error(), "larger than 256 KiB") {
		t.Errorf("found %+v", files)
	}
	here := System{OS: "linux", Home: home, Getenv: func(string) string { return "." }}
	for _, c := range Clients() {
		if name := c.UserFile(here); !filepath.IsAbs(name) {
			t.Errorf("%s: %s", c.ID, name)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Status{
		`{"command": "npx", "args": ["-y", "x"]}`:                                              Unprotected,
		`{"command": "candor", "args": ["wrap", "--", "x"]}`:                                   Protected,
		`{"command": "C:\\bin\\candor.exe", "args": ["wrap", "--mode", "observe", "--", "x"]}`: Protected,
		`{"command": "npx", "args": ["-y", "candor-mcp@1.2.3", "wrap", "--", "x"]}`:            Protected,
		`{"command": "candor", "args": ["gateway", "--config", "x"]}`:                          Protected,
		`{"command": "uvx", "args": ["--from", "candor-mcp", "candor", "wrap", "--", "x"]}`:    Protected,
		`{"command": "npx", "args": ["-y", "candor-mcp-evil", "wrap", "--", "x"]}`:             Unprotected,
		`{"command": "npx", "args": ["-y", "evil", "candor-mcp", "wrap", "--", "x"]}`:          Unprotected,
		`{"command": "npx", "args": ["--package=evil", "candor-mcp", "wrap", "--", "x"]}`:      Unprotected,
		`{"command": "npx", "args": ["candor", "wrap", "--", "x"]}`:                            Unprotected,
		`{"command": "npx", "args": ["-y", "candor-mcp@npm:evil", "wrap", "--", "x"]}`:         Unprotected,
		`{"command": "npx", "args": ["-y", "candor-mcp@../evil", "wrap", "--", "x"]}`:          Unprotected,
		`{"command": "./npx", "args": ["-y", "candor-mcp", "wrap", "--", "x"]}`:                Unprotected,
		`{"command": "bin\\cmd", "args": ["/c", "candor", "wrap", "--", "x"]}`:                 Unprotected,
		`{"command": "/opt/candor-evil", "args": ["wrap", "--", "x"]}`:                         Unprotected,
		`{"command": "./candor", "args": ["wrap", "--", "x"]}`:                                 Unprotected,
		`{"command": "sh", "args": ["-c", "evil", "candor", "wrap", "--", "x"]}`:               Unprotected,
		`{"command": "candor", "args": ["wrap", "--"]}`:                                        Unsupported,
		`{"command": "candor", "args": ["wrap", "x"]}`:                                         Unsupported,
		`{"command": "x", "args": ["wrap", "--", "candor"]}`:                                   Unprotected,
		`{"url": "https://example.com"}`:                                                       NotStdio,
		`{"settings": {}}`:                                                                     Managed,
		`{"source": "extension", "enabled": true}`:                                             Managed,
		`{}`: Unsupported,
		`{"command": "x", "url": "https://example.com"}`:                  Unsupported,
		`{"type": "stdio", "command": "x", "url": "https://example.com"}`: Unprotected,
		`{"type": "http", "command": "x", "url": "https://example.com"}`:  NotStdio,
		`{"command": "x", "env": {"A": {}}}`:                              Unsupported,
		`{"command": "x", "env": null}`:                                   Unprotected,
		`{"command": 1}`:                                                  Unsupported,
		`{"command": "x", "args": [1]}`:                                   Unsupported,
		`{"command": "x", "command": "y"}`:                                Unsupported,
		`"x"`:                                                             Unsupported,
	} {
		c, err := Parse(clientByID(t, "cursor"), []byte(`{"mcpServers": {"s": `+text+`}}`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if s := c.Servers[0]; s.Status != want {
			t.Errorf("%s: %s, want %s", text, s.Status, want)
		}
	}
}

// TestInstallNamesEntries checks that an entry gets its own name in the ledger unless the name could change in an argument, and that an
// entry of an earlier version, without a name, stays as it is and can be undone.
func TestInstallNamesEntries(t *testing.T) {
	t.Parallel()
	const entry = `{"mcpServers": {%q: {"command": %q, "args": [%s"x"]}}}`
	f := File{Client: clientByID(t, "cursor"), Path: filepath.Join(t.TempDir(), "mcp.json")}
	e := testEditor()
	e.Candor = []string{"candor"}
	for name, words := range map[string]string{
		"files": `"--name", "files", `, "my server": `"--name", "my server", `, "@scope/größe": `"--name", "@scope/größe", `,
		"": "", "-x": "", "${HOME}": "", "%PATH%": "", "a&b": "", strings.Repeat("n", 101): "",
	} {
		before := fmt.Sprintf(entry, name, "npx", "")
		writeFile(t, f.Path, []byte(before), 0o600)
		install(t, e, f)
		if now, want := string(readFile(t, f.Path)), fmt.Sprintf(entry, name, "candor", `"wrap", `+words+`"--", "npx", `); now != want {
			t.Errorf("got %s, want %s", now, want)
		}
		uninstall(t, e, f)
		if now := string(readFile(t, f.Path)); now != before {
			t.Errorf("after uninstall: %s", now)
		}
	}
	earlier := fmt.Sprintf(entry, "files", "candor", `"wrap", "--", "npx", `)
	writeFile(t, f.Path, []byte(earlier), 0o600)
	writeFile(t, f.Path+".candor-backup-20250102T030405Z", []byte(fmt.Sprintf(entry, "files", "npx", "")), 0o600)
	if r := install(t, e, f); len(r.Changes) > 0 {
		t.Errorf("an earlier entry was changed: %+v", r.Changes)
	}
	uninstall(t, e, f)
	if now := string(readFile(t, f.Path)); now != fmt.Sprintf(entry, "files", "npx", "") {
		t.Errorf("after uninstall: %s", now)
	}
	if names := namesIn(t, filepath.Dir(f.Path)); len(names) != 1 {
		t.Errorf("files left behind: %q", names)
	}
}
