package clientconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestReadFileReadsTheShapesOfClients reads files of clients that are not known by their path.
func TestReadFileReadsTheShapesOfClients(t *testing.T) {
	t.Parallel()
	github := Server{Name: "github", Command: "npx", Args: []string{"-y", "x"}, Env: []Pair{{"A", "1"}, {"B", "2"}}, Status: Unprotected}
	withDir := github
	withDir.Dir, withDir.EnvFile = "/srv/x", ".env"
	for name, c := range map[string]struct {
		file, text string
		want       []Server
	}{
		"mcpServers":     {"a.json", `{"mcpServers":{"github":{"command":"npx","args":["-y","x"],"env":{"A":"1","B":2}}}}`, []Server{github}},
		"comments":       {"a.json", "\xef\xbb\xbf// a\n{ \"servers\": { /* , */ \"github\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\",], \"env\": {\"A\": \"1\", \"B\": \"2\",},},},}", []Server{github}},
		"nested":         {"a.json", `{"mcp":{"servers":{"github":{"command":"npx","args":["-y","x"],"env":{"A":"1","B":"2"}}}}}`, []Server{github}},
		"command object": {"a.json", `{"context_servers":{"github":{"command":{"path":"npx","args":["-y","x"],"env":{"A":"1","B":"2"}}}}}`, []Server{github}},
		"folder":         {"a.json", `{"servers":{"github":{"command":"npx","args":["-y","x"],"env":{"A":"1","B":"2"},"cwd":"/srv/x","envFile":".env"}}}`, []Server{withDir}},
		"toml":           {"a.TOML", "[mcp_servers.github]\ncommand = 'npx'\nargs = ['-y', 'x']\nenv = {A = '1', B = 2}\n", []Server{github}},
		"projects":       {"a.json", `{"projects":{"/p":{"mcpServers":{"a":{"command":"x"}}}}}`, []Server{{Name: "a", Project: "/p", Command: "x", Status: Unprotected}}},
		"url": {"a.json", `{"mcpServers":{"a":{"url":"https://h/","headers":{"X":"//y"}},"b":{"serverUrl":"http://b/"},"c":{"httpUrl":"http://c/","disabled":true}}}`, []Server{
			{Name: "a", URL: "https://h/", Headers: []Pair{{"X", "//y"}}, Status: NotStdio},
			{Name: "b", URL: "http://b/", Status: NotStdio},
			{Name: "c", URL: "http://c/", Disabled: true, Status: NotStdio}}},
		"headers of Codex": {"a.toml", "[mcp_servers.a]\nurl = 'https://h/'\nbearer_token_env_var = 'T'\nenabled = false\nhttp_headers = {X = 'y'}\nenv_http_headers = {Z = 'V'}\n", []Server{
			{Name: "a", URL: "https://h/", Headers: []Pair{{"X", "y"}, {"Z", "${V}"}, {"Authorization", "Bearer ${T}"}}, Disabled: true, Status: NotStdio}}},
		"command array": {"a.json", `{"mcp":{"timeout":5,"github":{"type":"local","command":["npx","-y","x"],"environment":{"A":"1","B":2}},"servers":{"a":{"type":"remote","url":"https://h/"}},"b":{"command":[]}}}`, []Server{
			github, {Name: "a", URL: "https://h/", Status: NotStdio}, {Name: "b", Status: Unsupported, Problem: "the command is not a string"}}},
		"yaml": {"a.yml", "extensions:\n  github:\n    cmd: npx\n    args: [-y, 'x']\n    envs: {A: '1', B: 2}\n  dev: {type: builtin, enabled: true}\n  two:\n    cmd: |\n      a\n      b\n  ref: {cmd: &a x}\n", []Server{
			github, {Name: "dev", Status: Managed, Problem: "it is a part of the client"},
			{Name: "two", Status: Unsupported, Problem: "the command is not a string"}, {Name: "ref", Status: Unsupported, Problem: "the command is not a string"}}},
		"comma in a text":  {"a.json", `{"mcpServers":{"a":{"command":",}","args":["\",]"]}}}`, []Server{{Name: "a", Command: ",}", Args: []string{"\",]"}, Status: Unprotected}}},
		"other keys first": {"a.json", `{"x":[1,{"y":2}],"mcpServers":{}}`, nil},
		"one bad entry": {"a.json", `{"mcpServers":{"a":{"command":7},"b":{"command":"x"}}}`, []Server{
			{Name: "a", Status: Unsupported, Problem: "the command is not a string"}, {Name: "b", Command: "x", Status: Unprotected}}},
		"duplicates": {"a.json", `{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"},"a":{"command":"z"}}}`, []Server{
			{Name: "a", Command: "x", Status: Unsupported, Duplicate: true, Problem: duplicateProblem},
			{Name: "b", Command: "y", Status: Unprotected},
			{Name: "a", Command: "z", Status: Unsupported, Duplicate: true, Problem: duplicateProblem}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), c.file)
			writeFile(t, path, []byte(c.text), 0o600)
			f := ReadFile(path)
			if f.Err != nil {
				t.Fatal(f.Err)
			}
			if diff := cmp.Diff(c.want, f.Servers, cmpopts.IgnoreUnexported(Server{}), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if f.Name() != path {
				t.Errorf("name %q", f.Name())
			}
		})
	}
}

const duplicateProblem = "the file has more than one server with this name, and clients use only one of them"

func TestReadFileRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{
		``:                    "missing key mcpServers",
		`[]`:                  "line 1, column 1: not an object",
		`{"a":1}`:             "missing key mcpServers",
		`{"mcpServers":[]}`:   `"mcpServers" is not an object`,
		`{"mcpServers":{"a":`: "line 1, column 20: parsing value: unexpected EOF",
		`{ /* `:               "parsing comment: unexpected EOF",
	} {
		path := filepath.Join(dir, "a.json")
		writeFile(t, path, []byte(text), 0o600)
		if f := ReadFile(path); f.Err == nil || !strings.Contains(f.Err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, f.Err, want)
		}
	}
	for path, want := range map[string]string{filepath.Join(dir, "missing"): "no such file", dir: "is a folder"} {
		if f := ReadFile(path); f.Err == nil || os.PathSeparator == '/' && !strings.Contains(f.Err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, f.Err, want)
		}
	}
}

func TestUnwrapFindsTheServerBehindWrap(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/opt/candor wrap --name a -- npx -y x": "npx -y x|/opt/candor",
		`C:\bin\candor.exe wrap -- node s.js`:   `node s.js|C:\bin\candor.exe`,
		"npx -y candor-mcp wrap -- uvx y":       "uvx y|npx",
		"npx -y candor-mcp@1.2.3 wrap -- uvx y": "uvx y|npx",
		"npx -y other wrap -- uvx y":            "npx -y other wrap -- uvx y|",
		"candor gateway":                        "candor gateway|",
		"server -- wrap":                        "server -- wrap|",
	} {
		server, program := Unwrap(strings.Fields(line))
		if got := strings.Join(server, " ") + "|" + program; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
