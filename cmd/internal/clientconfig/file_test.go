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

func TestUserFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		os   string
		env  map[string]string
		want map[string]string
	}{
		{"linux", nil, map[string]string{
			"claude-desktop": "/home/ann/.config/Claude/claude_desktop_config.json", "claude-code": "/home/ann/.claude.json",
			"cursor": "/home/ann/.cursor/mcp.json", "vscode": "/home/ann/.config/Code/User/mcp.json",
			"windsurf": "/home/ann/.codeium/windsurf/mcp_config.json", "gemini": "/home/ann/.gemini/settings.json",
			"codex": "/home/ann/.codex/config.toml", "zed": "/home/ann/.config/zed/settings.json"}},
		{"linux", map[string]string{"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d"}, map[string]string{
			"claude-desktop": "/x/Claude/claude_desktop_config.json", "claude-code": "/d/.claude.json",
			"vscode": "/x/Code/User/mcp.json", "codex": "/c/config.toml", "zed": "/x/zed/settings.json"}},
		{"darwin", nil, map[string]string{
			"claude-desktop": "/home/ann/Library/Application Support/Claude/claude_desktop_config.json",
			"vscode":         "/home/ann/Library/Application Support/Code/User/mcp.json",
			"claude-code":    "/home/ann/.claude.json", "zed": "/home/ann/.config/zed/settings.json"}},
		{"windows", map[string]string{"APPDATA": "/home/ann/Roaming"}, map[string]string{
			"claude-desktop": "/home/ann/Roaming/Claude/claude_desktop_config.json", "vscode": "/home/ann/Roaming/Code/User/mcp.json",
			"zed": "/home/ann/Roaming/Zed/settings.json", "cursor": "/home/ann/.cursor/mcp.json",
			"windsurf": "/home/ann/.codeium/windsurf/mcp_config.json"}},
		{"windows", nil, map[string]string{"vscode": "/home/ann/AppData/Roaming/Code/User/mcp.json"}},
	} {
		s := System{OS: c.os, Home: "/home/ann", Getenv: func(name string) string { return c.env[name] }}
		for id, want := range c.want {
			if got := filepath.ToSlash(clientByID(t, id).UserFile(s)); got != want {
				t.Errorf("%s %v: %s has %q, want %q", c.os, c.env, id, got, want)
			}
		}
	}
	nowhere := System{OS: "linux", Getenv: func(string) string { return "" }}
	for _, c := range Clients() {
		if got := c.UserFile(nowhere) + c.ProjectFile(nowhere); got != "" {
			t.Errorf("%s without a home folder: %q", c.ID, got)
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
	e := testEditor(dir)
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
		}, "line 1, column 38: missing a comma"},
		"two servers of one name": {func(t *testing.T, f File) {
			t.Helper()
			writeFile(t, f.Path, []byte(`{"mcpServers": {"a": {"command": "a"}, "a": {"command": "b"}}}`), 0o600)
		}, `the server "a" occurs twice`},
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
		}, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			f, _ := faultFile(t, dir)
			c.prepare(t, f)
			before := namesIn(t, filepath.Dir(f.Path))
			content, _ := os.ReadFile(f.Path)
			_, err := testEditor(dir).Install(context.Background(), f, every)
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
	if len(files) != 1 || files[0].Err == nil {
		t.Errorf("found %+v", files)
	}
}

// TestDiscoverFindsProfiles finds the files of VS Code's profiles, and a file of the project once.
func TestDiscoverFindsProfiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, name := range []string{".config/Code/User/mcp.json", ".config/Code/User/profiles/-1a2b/mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"} {
		name = filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, []byte(`{"servers": {"a": {"command": "a"}}, "theme": 1, "theme": 2}`), 0o600)
	}
	var got []string
	for _, f := range Discover(System{OS: "linux", Home: home, Folder: home, Getenv: func(string) string { return "" }}) {
		rel, _ := filepath.Rel(home, f.Path)
		got = append(got, fmt.Sprintf("%s %t %d %v", filepath.ToSlash(rel), f.Project, len(f.Servers), f.Err))
	}
	want := []string{".cursor/mcp.json false 0 <nil>", ".config/Code/User/mcp.json false 1 <nil>",
		".config/Code/User/profiles/-1a2b/mcp.json false 1 <nil>", ".vscode/mcp.json true 1 <nil>"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
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
		`{"command": "candor", "args": ["wrap", "--"]}`:                                        Unprotected,
		`{"command": "x", "args": ["wrap", "--", "candor"]}`:                                   Unprotected,
		`{"url": "https://example.com"}`:                                                       NotStdio,
		`{"settings": {}}`:                                                                     Unsupported,
		`{"command": 1}`:                                                                       Unsupported,
		`{"command": "x", "args": [1]}`:                                                        Unsupported,
		`{"command": "x", "command": "y"}`:                                                     Unsupported,
		`"x"`:                                                                                  Unsupported,
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
