package clientconfig

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTOMLStrings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"a\tb\"\\\u00e9\U0001F600\e\x41"`: "a\tb\"\\é😀\x1bA",
		`'C:\x'`:                           `C:\x`,
		"\"\"\"\nline \\\n   next\"\"\"":   "line next",
		"'''\r\nraw \\ '' '''":             `raw \ '' `,
		`""""two"""""`:                     `"two""`,
		`""`:                               "",
	} {
		n, err := parseTOML([]byte("a.'b c'.\"d\" = " + text + " # comment\r\n[z]\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := n.child("a").child("b c").child("d"); got.kind != kindString || got.text != want {
			t.Errorf("%s: %q, want %q", text, got.text, want)
		}
	}
}

func TestTOMLErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a = 1\na = 2\n":            `line 2, column 1: the key "a" occurs twice`,
		"[a]\n[b]\n[a]\n":           `line 3, column 1: the table "a" occurs twice`,
		"a = \"x\n\"":               "line 1, column 5: string without an end",
		`a = "\q"`:                  "escape",
		`a = "x" "y"`:               "text after the end of the value",
		"a = [1 2]\n[":              "", // a number is not checked
		"a = ":                      "missing a value",
		"a = \"x\\":                 "string without an end",
		"a":                         "missing =",
		"[a":                        "missing ]",
		"a = [\"x\" \"y\"]":         "missing a comma",
		"a = 1\n[a.b]\n":            `"a" is not a table`,
		strings.Repeat("a=[", 1000): "",
	} {
		_, err := parseTOML([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
	if _, err := parseTOML([]byte("a = " + strings.Repeat("[", 1000))); err == nil || !strings.Contains(err.Error(), "too deeply") {
		t.Errorf("deep arrays: %v", err)
	}
	if _, err := parseJSONC([]byte(strings.Repeat(`[`, 1000))); err == nil || !strings.Contains(err.Error(), "too deeply") {
		t.Errorf("deep arrays: %v", err)
	}
}

// FuzzInstall wraps every server of a file that parses: the edit must succeed, which includes that it can be undone to the same
// bytes. The reader of JSONC must accept all JSON.
func FuzzInstall(f *testing.F) {
	inputs, _ := filepath.Glob("testdata/clients/*")
	for _, name := range inputs {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, filepath.Ext(name) == ".toml")
	}
	f.Add([]byte("mcp_servers.a={command='x',args=[#\n]}"), true)
	f.Add([]byte(`{"mcpServers":{"":{"args":[/**/],"command":"\u0000"}}}`), false)
	f.Fuzz(func(t *testing.T, src []byte, toml bool) {
		id := "claude-code"
		if toml {
			id = "codex"
		}
		c := clientByID(t, id)
		if !toml && json.Valid(src) {
			if _, err := parseJSONC(src); err != nil && !strings.Contains(err.Error(), "too deeply") {
				t.Fatalf("valid JSON is refused: %v", err)
			}
		}
		config, err := Parse(c, src)
		if err != nil {
			return
		}
		servers := config.filter(func(s Server) bool { return s.Status == Unprotected })
		out, _, err := config.wrap(servers, []string{"npx", "-y", "candor-mcp"})
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, src, out)
		}
		checkRepairs(t, config, servers)
		if config, err = Parse(c, out); err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(config.Servers, func(s Server) bool { return s.Status == Unprotected }); i >= 0 {
			t.Errorf("server %q is unprotected after install", config.Servers[i].Name)
		}
	})
}

// checkRepairs wraps servers with a Candor at a path, and replaces that path in each. The repair itself checks that it can be undone.
func checkRepairs(t *testing.T, config *Config, servers []Server) {
	t.Helper()
	src, added, err := config.wrap(servers, []string{"/opt/candor"})
	if err != nil {
		t.Fatal(err)
	}
	for i, old := range servers {
		wrapped, err := Parse(config.client, src)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := wrapped.find(old.path)
		if src, added[i], err = wrapped.repair(s, added[i], []string{"npx", "-y", "candor-mcp"}); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
	}
	repaired, err := Parse(config.client, src)
	if err != nil {
		t.Fatal(err)
	}
	for i, old := range servers {
		servers[i], _ = repaired.find(old.path)
	}
	if back, err := repaired.unwrap(servers, added); err != nil || !bytes.Equal(back, config.src) {
		t.Errorf("error %v, after repair and uninstall:\n%s\nbefore:\n%s", err, back, config.src)
	}
}
