package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// methodCase is one call. All cases run in order on one harness, so that later ones can use the results of earlier
// ones.
type methodCase struct {
	method, params string
	want           string // domain/SYMBOL, or "" for a success
}

// modeCases has every method at least once. The refusal of invalid parameters is tested for all methods in addition.
var modeCases = []methodCase{
	{"sys/ping", `{}`, ""},
	{"sys/metrics", `{}`, ""},
	{"sys/promMetrics", `{}`, ""},
	{"sys/errorStats", `{}`, ""},
	{"sys/setLogLevel", `{"level":"debug"}`, ""},
	{"sys/setLogLevel", `{"level":"loud"}`, "candor/INVALID_REQUEST_PARAMS"},

	{"mb/list", `{}`, ""},
	{"mb/read", `{"file":"note.md"}`, ""},
	{"mb/read", `{"file":"missing.md"}`, "memory-bank/E_MB_FILE_NOT_FOUND"},
	{"mb/search", `{"q":"candor"}`, ""},
	{"mb/search", `{"q":"` + strings.Repeat("long ", 50) + `"}`, "common/E_INPUT_TOO_LARGE"},

	{"mb/write", `{"file":"new.md","content":"x"}`, "filesystem/E_FS_DENIED"},
	{"mb/edit", `{"file":"note.md","edits":[{"old":"a","new":"b"}]}`, "filesystem/E_FS_DENIED"},
	{"mb/move", `{"from":"note.md","to":"new.md"}`, "filesystem/E_FS_DENIED"},

	{"kg/add", `{"subject":"a","predicate":"knows","object":"b"}`, ""},
	{"kg/add", `{"subject":"b","predicate":"knows","object":"c"}`, "kg/E_KG_FULL"},
	{"kg/add", `{"subject":"","predicate":"knows","object":"c"}`, "kg/E_KG_INVALID_TRIPLE"},
	{"kg/query", `{"subject":"a"}`, ""},
	{"kg/search", `{"q":"KNOW"}`, ""},
	{"kg/add_many", `{"triples":[{"subject":"b","predicate":"knows","object":"c"}]}`, "kg/E_KG_FULL"},
	{"kg/delete_entity", `{"entity":"nobody"}`, ""},
	{"kg/stats", `{}`, ""},
	{"kg/delete", `{"subject":"a","predicate":"knows","object":"b"}`, ""},

	{"fs/list", `{}`, ""},
	{"fs/stat", `{"path":"note.txt"}`, ""},
	{"fs/read", `{"path":"note.txt"}`, ""},
	{"fs/read", `{"path":"../secret"}`, "filesystem/E_FS_PATH_ESCAPE"},
	{"fs/write", `{"path":"out/a.txt","content":"new"}`, ""},
	{"fs/write", `{"path":"note.txt","content":"new"}`, "filesystem/E_FS_DENIED"},
	{"fs/mkdir", `{"path":"out/folder"}`, ""},
	{"fs/search", `{"q":"NEW"}`, ""},
	{"fs/edit", `{"path":"out/a.txt","edits":[{"old":"new","new":"newer"}]}`, ""},
	{"fs/move", `{"from":"out/a.txt","to":"out/b.txt"}`, ""},
	{"fs/move", `{"from":"out/b.txt","to":"out/a.txt"}`, ""},
	{"fs/delete", `{"path":"out/a.txt"}`, ""},
	{"fs/delete", `{"path":"out/a.txt"}`, "filesystem/E_FS_NOT_FOUND"},

	{"sql/query", `{"sql":"SELECT 1"}`, ""},
	{"sql/execute", `{"sql":"CREATE TABLE t (n INTEGER)"}`, ""},
	{"sql/tables", `{}`, ""},
	{"sql/query", `{"sql":"SELECT 6*7 AS answer"}`, ""},
	{"sql/query", `{"sql":"SELECT nothing FROM nowhere"}`, "sql/E_SQL_QUERY"},

	{"py/scripts", `{}`, ""},
	{"py/run", `{"code":"print(6*7)"}`, ""},
	{"py/run", `{"code":"1/0"}`, "python/E_PY_EXEC_FAIL"},
	{"py/script", `{"name":"missing"}`, "python/E_PY_SCRIPT_NOT_FOUND"},

	{"pw/launch", `{}`, "common/E_NOT_INSTALLED"},
	{"pw/navigate", `{"session":"none","url":"http://example.com/"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/select", `{"session":"none","selector":"p"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/click", `{"session":"none","selector":"p"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/type", `{"session":"none","selector":"p","text":"x"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/content", `{"session":"none"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/snapshot", `{"session":"none"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/screenshot", `{"session":"none"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/select_option", `{"session":"none","selector":"p","options":["x"]}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/press", `{"session":"none","key":"Enter"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/wait_for", `{"session":"none","text":"x"}`, "common/E_SESSION_NOT_FOUND"},
	{"pw/close", `{"session":"none"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/launch", `{}`, "common/E_NOT_INSTALLED"},
	{"pt/navigate", `{"session":"none","url":"http://example.com/"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/select", `{"session":"none","selector":"p"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/click", `{"session":"none","selector":"p"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/type", `{"session":"none","selector":"p","text":"x"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/content", `{"session":"none"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/snapshot", `{"session":"none"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/screenshot", `{"session":"none"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/select_option", `{"session":"none","selector":"p","options":["x"]}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/press", `{"session":"none","key":"Enter"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/wait_for", `{"session":"none","text":"x"}`, "common/E_SESSION_NOT_FOUND"},
	{"pt/close", `{"session":"none"}`, "common/E_SESSION_NOT_FOUND"},

	{"notion/search", `{"query":"x"}`, "notion/E_NOTION_AUTH"},
	{"notion/page", `{"id":"00000000000000000000000000000000"}`, "notion/E_NOTION_AUTH"},
	{"tavily/search", `{"query":"x"}`, "tavily/E_TAVILY_AUTH_MISSING"},
	{"github/repo", `{"owner":"o","repo":"r"}`, "github/E_GH_AUTH_MISSING"},
	{"github/issues", `{"owner":"o","repo":"r"}`, "github/E_GH_AUTH_MISSING"},
	{"github/issue", `{"owner":"o","repo":"r","number":1}`, "github/E_GH_AUTH_MISSING"},
	{"github/file", `{"owner":"o","repo":"r","path":"README.md"}`, "github/E_GH_AUTH_MISSING"},
}

// modesSetup returns a harness with every domain, in which every case has its expected outcome.
func modesSetup(t *testing.T, mcp bool) setup {
	t.Helper()
	bank, root := t.TempDir(), t.TempDir()
	for _, name := range []string{filepath.Join(bank, "note.md"), filepath.Join(root, "note.txt"), filepath.Join(root, "out", "old.txt")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("Candor is honest.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return setup{mcp: mcp, flags: []string{"--domain", "all", "--domain", "puppeteer"}, env: []string{
		"MCP_ERROR_METRICS=1", "MCP_MB_ROOT=" + bank, "MCP_FS_ROOT=" + root, "MCP_FS_WRITE_GLOBS=out/**", "MCP_KG_MAX_TRIPLES=1", "MCP_SQL_WRITE=1",
		"MCP_PYTHON_CONFINE=auto", "MCP_BROWSER_PATH=" + filepath.Join(root, "no-chromium"), "NOTION_TOKEN=", "TAVILY_API_KEY=", "GITHUB_TOKEN=",
	}}
}

// outcome returns the parts that a client may rely on: the code and advice of a failure, or the members of a result.
func (r reply) outcome() string {
	if e := r.m.Error(); e.Present() {
		data := e.Path("data")
		return fmt.Sprintf("%s %s %s retryable=%s after=%s details=%s", e.Path("code").Raw(), r.code(), e.Path("message").Raw(),
			data.Path("retryable").Raw(), data.Path("retryAfterMs").Raw(), r.details())
	}
	var names []string
	for name := range r.result().Members() {
		names = append(names, string(name.Raw()))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestH6BothModesLimitTheLine sends a line above MCP_MAX_LINE_LEN, and then one that fits.
func TestH6BothModesLimitTheLine(t *testing.T) {
	t.Parallel()
	for _, mcp := range []bool{false, true} {
		h := start(t, setup{mcp: mcp, env: []string{"MCP_MAX_LINE_LEN=2000"}})
		h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":%q}}`, strings.Repeat("x", 3000)))
		reply{t, wire.Parse(h.line(), wire.Limits{})}.fails(1002, "common/E_LIMIT_EXCEEDED")
		h.call("kg/query", `{}`).result()
	}
}

// TestModelsReadTheReason reads only text blocks, as a model does, with the default dialect of MCP mode.
func TestModelsReadTheReason(t *testing.T) {
	t.Parallel()
	h := start(t, setup{mcp: true, flags: []string{"--dialect", "candor", "--domain", "sql", "--domain", "python"}, env: []string{"MCP_SQL_WRITE=1", "MCP_PYTHON_CONFINE=auto"}})
	for _, c := range []struct{ method, params, want string }{
		{"sql/query", `{"sql":"SELECT a FROM nowhere"}`, "no such table: nowhere"},
		{"sql/query", `{}`, "/sql: is missing"},
		{"py/run", `{"code":"print('before')\nraise ValueError('x')"}`, "ValueError: x"},
		{"py/run", `{"code":"print('before')\nraise ValueError('x')"}`, "before"},
	} {
		text, _ := h.text(c.method, c.params)
		if !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %q is missing in %q", c.method, c.params, c.want, text)
		}
	}
}

func TestMCPModeHasTheOutcomesOfLineMode(t *testing.T) {
	t.Parallel()
	lines, tools := start(t, modesSetup(t, false)), start(t, modesSetup(t, true))
	tested := map[string]bool{}
	compare := func(c methodCase) {
		t.Helper()
		tested[c.method] = true
		inLines, inTools := lines.call(c.method, c.params), tools.call(c.method, c.params)
		if inLines.code() != c.want {
			t.Errorf("%s %s: want %q: %s", c.method, c.params, c.want, inLines.m.Bytes())
		}
		if a, b := inLines.outcome(), inTools.outcome(); a != b {
			t.Errorf("%s %s:\nline mode %s\nMCP mode  %s", c.method, c.params, a, b)
		}
	}
	methods := lines.methods()
	for _, c := range modeCases {
		if slices.Contains(methods, c.method) {
			compare(c)
		} else {
			t.Errorf("%s is not a method", c.method)
		}
	}
	for _, method := range methods {
		if !tested[method] {
			t.Errorf("%s has no case", method)
		}
		compare(methodCase{method, `{"no such parameter":1}`, "common/E_INVALID_PARAMS"})
	}
	start(t, setup{mcp: true}).call("no/such", `{}`).fails(-32602, "candor/TOOL_NOT_FOUND")
	stats := func(h *harness) string {
		s := h.call("sys/errorStats", `{}`).result()
		return fmt.Sprintf("%s %s %s", s.Path("total").Raw(), s.Path("byCode").Raw(), s.Path("byDomain").Raw())
	}
	if a, b := stats(lines), stats(tools); a != b {
		t.Errorf("counted in line mode %s\ncounted in MCP mode  %s", a, b)
	}
	perMethod := func(h *harness) string { return string(h.call("sys/metrics", `{}`).result().Path("methods").Raw()) }
	if a, b := perMethod(lines), perMethod(tools); a != b {
		t.Errorf("sys/metrics in line mode %s\nin MCP mode %s", a, b)
	}
}
