package clientconfig

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestInstallRemoteReplacesURLs has one entry of each form, and what it becomes.
func TestInstallRemoteReplacesURLs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ client, before, after string }{
		{"copilot", `{"mcpServers": {"a": {"type": "http", "url" : "https://h/mcp", "tools": ["*"]}}}`,
			`{"mcpServers": {"a": {"type": "stdio", "command": "candor", "args": ["wrap", "--name", "a", "--", "npx", "-y", "mcp-remote", "https://h/mcp"], "tools": ["*"]}}}`},
		{"antigravity", "{\"mcpServers\": {\"a\": {\n  \"serverUrl\": \"http://localhost:8/\" // x\n}}}",
			"{\"mcpServers\": {\"a\": {\n  \"command\": \"candor\",\n  \"args\": [\"wrap\", \"--name\", \"a\", \"--\", \"npx\", \"-y\", \"mcp-remote\", \"http://localhost:8/\"] // x\n}}}"},
		{"opencode", `{"mcp": {"a": {"type": "remote", "url": "https://h/", "oauth": {}, "enabled": true}}}`,
			`{"mcp": {"a": {"type": "local", "command": ["candor", "wrap", "--name", "a", "--", "npx", "-y", "mcp-remote", "https://h/"], "oauth": {}, "enabled": true}}}`},
		{"codex", "[mcp_servers.a]\nurl = 'https://h/' # x\nenabled = true\n",
			"[mcp_servers.a]\ncommand = \"candor\"\nargs = [\"wrap\", \"--name\", \"a\", \"--\", \"npx\", \"-y\", \"mcp-remote\", \"https://h/\"] # x\nenabled = true\n"},
		{"codex", "mcp_servers.a.url = 'https://h/'\nmcp_servers.b = {url = 'https://b/'}\n",
			"mcp_servers.a.command = \"candor\"\nmcp_servers.a.args = [\"wrap\", \"--name\", \"a\", \"--\", \"npx\", \"-y\", \"mcp-remote\", \"https://h/\"]\nmcp_servers.b = {command = \"candor\", args = [\"wrap\", \"--name\", \"b\", \"--\", \"npx\", \"-y\", \"mcp-remote\", \"https://b/\"]}\n"},
		{"goose", "extensions:\n  a:\n    type: streamable_http\n    uri: https://h/ # x\n    headers: {}\n",
			"extensions:\n  a:\n    type: \"stdio\"\n    cmd: \"candor\"\n    args: [\"wrap\", \"--name\", \"a\", \"--\", \"npx\", \"-y\", \"mcp-remote\", \"https://h/\"] # x\n    headers: {}\n"},
	} {
		f := File{Client: clientByID(t, c.client), Path: filepath.Join(t.TempDir(), "config")}
		writeFile(t, f.Path, []byte(c.before), 0o600)
		e := testEditor()
		e.Candor, e.Remote = []string{"candor"}, true
		install(t, e, f)
		if now := string(readFile(t, f.Path)); now != c.after {
			t.Errorf("%s: got\n%s\nwant\n%s", c.client, now, c.after)
		}
		uninstall(t, e, f)
		if now := string(readFile(t, f.Path)); now != c.before {
			t.Errorf("%s: after uninstall\n%s\nwant\n%s", c.client, now, c.before)
		}
	}
}

// TestInstallRemoteIsUndone takes every documented file through two installations, of commands and of URLs, and back.
func TestInstallRemoteIsUndone(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/clients/*")
	if err != nil {
		t.Fatal(err)
	}
	replaced := 0
	for _, input := range inputs {
		if strings.Contains(input, ".golden.") {
			continue
		}
		id, _, _ := strings.Cut(filepath.Base(input), ".")
		before, dir := readFile(t, input), t.TempDir()
		f := File{Client: clientByID(t, strings.TrimSuffix(id, "-inline")), Path: filepath.Join(dir, "config")}
		writeFile(t, f.Path, before, 0o600)
		e := testEditor()
		install(t, e, f)
		e.Remote = true
		e.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC) }
		for _, change := range install(t, e, f).Changes {
			replaced++
			if want := append([]string{"/usr/local/bin/candor", "wrap", "--name", change.Server.Name, "--", "npx", "-y", "mcp-remote"}, change.Server.URL); !slices.Equal(change.After, want) {
				t.Errorf("%s: %q, want %q", input, change.After, want)
			}
		}
		if r := install(t, e, f); r.Written {
			t.Errorf("%s: a second run changed %+v", input, r.Changes)
		}
		uninstall(t, e, f)
		if now := readFile(t, f.Path); string(now) != string(before) {
			t.Errorf("%s: after uninstall\n%s", input, now)
		}
		if names := namesIn(t, dir); len(names) != 1 {
			t.Errorf("%s: files left behind: %q", input, names)
		}
	}
	if replaced < 10 {
		t.Errorf("only %d servers were changed", replaced)
	}
}

// TestInstallRemoteLeavesOthersAlone has entries that mcp-remote cannot replace, and one whose backup has gone.
func TestInstallRemoteLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		`{"url": "https://h/", "headers": {"Authorization": "Bearer x"}}`: "headers",
		`{"url": "https://h/", "oauth": {"scopes": ["a"]}}`:               "log-in",
		`{"url": "http://h/"}`:        "not https",
		`{"url": "https://${HOST}/"}`: "placeholder",
		`{"url": "https://h/?api_key=sk-ant-0123456789abcdef0123456789abcd"}`: "secret",
		`{"type": "http", "url": "https://h/", "command": "x"}`:               "no URL",
		`{"command": "x"}`: "no URL",
	} {
		config, err := Parse(clientByID(t, "cursor"), []byte(`{"mcpServers": {"a": `+entry+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := config.Servers[0].CheckBridge(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", entry, err, want)
		}
	}
	f := File{Client: clientByID(t, "cursor"), Path: filepath.Join(t.TempDir(), "mcp.json")}
	writeFile(t, f.Path, []byte(`{"mcpServers": {"a": {"command": "candor", "args": ["wrap", "--", "npx", "-y", "mcp-remote", "https://h/"]}}}`), 0o600)
	if _, err := testEditor().Uninstall(context.Background(), f, every); err != nil {
		t.Fatal(err)
	}
	if now := string(readFile(t, f.Path)); now != `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "mcp-remote", "https://h/"]}}}` {
		t.Error(now)
	}
}
