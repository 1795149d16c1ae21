package clientconfig

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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
		"a = 1\na = 2\n":    "line 2, column 1: key a is already defined",
		"[a]\n[b]\n[a]\n":   "line 3, column 2: table a already exists",
		`a = "\q"`:          "escape",
		`a = "x" "y"`:       "line 1, column 9: expected newline",
		"a = ":              "expected value",
		"a = 1\n[a.b]\n":    "already exists as a value",
		"\ufeffa = [\n1 2]": "line 2, column 3",
	} {
		_, err := parseTOML([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
}

// The parser of JSON recurses, and a stack that is too large ends the program.
func TestDeepJSONIsRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 10_001)
	for text, want := range map[string]string{
		"{\n\"a\": " + deep: "line 2, column 10005: nested too deeply",
		`{"a": "\"` + deep + `", /*` + deep + "*/ //" + deep: "unexpected EOF",
		`{"a": "\\", "b": ` + deep:                           "nested too deeply",
	} {
		if _, err := parseJSONC([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %s", text, err, want)
		}
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
		f.Add(data, strings.TrimPrefix(filepath.Ext(name), "."))
	}
	f.Add([]byte("mcp_servers.a={command='x',args=[#\n]}"), "toml")
	f.Add([]byte(`{"mcpServers":{"":{"args":[/**/],"command":"\u0000"}}}`), "json")
	f.Add([]byte("{\"mcpServers\":{\"a\":{\"command\":\"caf\xe9\"}}}"), "json")
	ids := map[string]string{"json": "claude-code", "toml": "codex", "yaml": "goose", "jsonc": "opencode"}
	f.Fuzz(func(t *testing.T, src []byte, form string) {
		id, known := ids[form]
		if !known {
			return
		}
		c := clientByID(t, id)
		if c.format == formatJSON && json.Valid(src) && utf8.Valid(src) {
			if _, err := parseJSONC(src); err != nil && !strings.Contains(err.Error(), "too deeply") {
				t.Fatalf("valid JSON is refused: %v", err)
			}
		}
		config, err := Parse(c, src)
		if err != nil {
			return
		}
		servers := config.filter(func(s Server) bool { return s.Status == Unprotected })
		out, err := config.wrap(servers, []string{"npx", "-y", "candor-mcp"})
		if err != nil && c.format == formatYAML {
			return // a command that is valid as a line may not be one in brackets
		}
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, src, out)
		}
		checkRepairs(t, config, servers)
		if _, err := config.wrap(config.filter(func(s Server) bool { return s.CheckBridge() == nil }), []string{"candor"}); err != nil && c.format != formatYAML {
			t.Fatalf("%v\n%s", err, src)
		}
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
	src, err := config.wrap(servers, []string{"/opt/candor"})
	if err != nil {
		t.Fatal(err)
	}
	chosen := func(c *Config) []Server {
		return c.filter(func(s Server) bool {
			return slices.ContainsFunc(servers, func(old Server) bool { return slices.Equal(s.path, old.path) })
		})
	}
	wrapped, err := Parse(config.client, src)
	if err != nil {
		t.Fatal(err)
	}
	broken := chosen(wrapped)
	for i := range broken {
		broken[i].Status = Broken
	}
	if src, err = wrapped.wrap(broken, []string{"npx", "-y", "candor-mcp"}); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	repaired, err := Parse(config.client, src)
	if err != nil {
		t.Fatal(err)
	}
	servers = chosen(repaired)
	if back, err := repaired.unwrap(servers); err != nil || !bytes.Equal(back, config.src) {
		t.Errorf("error %v, after repair and uninstall:\n%s\nbefore:\n%s", err, back, config.src)
	}
}
