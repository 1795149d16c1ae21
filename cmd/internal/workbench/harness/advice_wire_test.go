package harness_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// adviceCase is a failure and the calls that obey its advice, which must succeed. An agent that reads the text of the failure and nothing
// else makes them.
type adviceCase struct {
	code         string // symbol
	method, args string // fails
	advice       string // part of the text after Next, or of the details that it refers to
	obey         []step
}

type step struct{ method, args string }

// adviceCases has the failures whose advice an agent can obey. The advice of the others is to wait for something that ends, or to ask a
// person.
var adviceCases = []adviceCase{
	{"E_INVALID_PARAMS", "mb/search", `{"query":"x"}`, `"q": "text"`, []step{{"mb/search", `{"q":"text"}`}}},
	{"E_INVALID_PARAMS", "fs/read", `{"path":"out"}`, "fs/list", []step{{"fs/list", `{"path":"out"}`}}},
	{"E_INVALID_PARAMS", "fs/edit", `{"path":"out/a.txt","edits":[{"old":"none","new":"b"}]}`, "Read the file",
		[]step{{"fs/read", `{"path":"out/a.txt"}`}, {"fs/edit", `{"path":"out/a.txt","edits":[{"old":"honest","new":"honest"}]}`}}},
	{"E_INVALID_PARAMS", "kg/query", `{"cursor":"junk"}`, "cursor: not one", []step{{"kg/query", `{}`}}},
	{"E_INPUT_TOO_LARGE", "mb/search", `{"q":"` + strings.Repeat("x", 201) + `"}`, "200", []step{{"mb/search", `{"q":"` + strings.Repeat("x", 200) + `"}`}}},
	{"E_LIMIT_EXCEEDED", "py/run", `{"code":"while True: print('x'*100000)"}`, "Stay below the limit", []step{{"py/run", `{"code":"print(1)"}`}}},
	{"E_SESSION_NOT_FOUND", "pw/content", `{"session":"none"}`, "Open a new session", nil}, // launch needs a browser
	{"E_UNSUPPORTED", "notion/search", `{"query":"x"}`, "ask the operator to switch the domain on", []step{{"mb/list", `{}`}}},
	{"E_PY_EXEC_FAIL", "py/run", `{"code":"x = 1\nprint(y)"}`, "name 'y' is not defined (line 2)", []step{{"py/run", `{"code":"x = 1\nprint(x)"}`}}},
	{"E_PY_SECURITY", "py/run", `{"code":"import os\nprint(1)"}`, "import of os", []step{{"py/run", `{"code":"print(1)"}`}}},
	{"E_PY_TIMEOUT", "py/run", `{"code":"while True: pass","timeoutMs":1000}`, "less work", []step{{"py/run", `{"code":"pass"}`}}},
	{"E_PY_SCRIPT_NOT_FOUND", "py/script", `{"name":"none"}`, "List the scripts", []step{{"py/scripts", `{}`}, {"py/script", `{"name":"hello.py"}`}}},
	{"E_PY_INVALID_PARAMS", "py/run", `{"code":" "}`, "code is empty", []step{{"py/run", `{"code":"pass"}`}}},
	{"E_MB_FILE_NOT_FOUND", "mb/read", `{"file":"none.md"}`, "List the files", []step{{"mb/list", `{}`}, {"mb/read", `{"file":"note.md"}`}}},
	{"E_MB_READ", "mb/read", `{"file":"sub"}`, "mb/list", []step{{"mb/list", `{}`}, {"mb/read", `{"file":"note.md"}`}}},
	{"E_KG_INVALID_TRIPLE", "kg/add", `{"subject":" ","predicate":"b","object":"c"}`, "non-empty texts", []step{{"kg/add", `{"subject":"a","predicate":"b","object":"c"}`}}},
	{"E_KG_FULL", "kg/add", `{"subject":"a","predicate":"b","object":"d"}`, "remove some yourself",
		[]step{{"kg/delete", `{"subject":"a","predicate":"b","object":"c"}`}, {"kg/add", `{"subject":"a","predicate":"b","object":"d"}`}}},
	{"E_FS_PATH_ESCAPE", "fs/read", `{"path":"../x"}`, "below the root", []step{{"fs/list", `{}`}}},
	{"E_FS_DENIED", "fs/write", `{"path":"b.txt","content":"x"}`, "patterns out/**", []step{{"fs/write", `{"path":"out/b.txt","content":"x"}`}}},
	{"E_FS_DENIED", "fs/delete", `{"path":"out/full"}`, "delete its entries first",
		[]step{{"fs/list", `{"path":"out/full"}`}, {"fs/delete", `{"path":"out/full/f"}`}, {"fs/delete", `{"path":"out/full"}`}}},
	{"E_FS_DENIED", "fs/move", `{"from":"out/b.txt","to":"out/a.txt"}`, "Choose another name", []step{{"fs/move", `{"from":"out/b.txt","to":"out/c.txt"}`}}},
	{"E_FS_NOT_FOUND", "fs/read", `{"path":"out/none"}`, "List the parent folder", []step{{"fs/list", `{"path":"out"}`}, {"fs/read", `{"path":"out/a.txt"}`}}},
	{"E_FS_NOT_FOUND", "fs/write", `{"path":"out/new/f","content":"x"}`, "fs/mkdir",
		[]step{{"fs/mkdir", `{"path":"out/new"}`}, {"fs/write", `{"path":"out/new/f","content":"x"}`}}},
	{"E_FS_WRITE_TOO_LARGE", "fs/write", `{"path":"out/a.txt","content":"` + strings.Repeat("x", 101) + `"}`, "the limit is 100",
		[]step{{"fs/write", `{"path":"out/a.txt","content":"` + strings.Repeat("x", 100) + `"}`}}},
	{"E_SQL_QUERY", "sql/query", `{"sql":"SELECT a FROM nowhere"}`, "no such table", []step{{"sql/tables", `{}`}, {"sql/query", `{"sql":"SELECT 1"}`}}},
	{"E_SQL_QUERY", "sql/tables", `{"table":"nothing"}`, "sql/tables without a table", []step{{"sql/tables", `{}`}}},
	{"E_SQL_QUERY", "sql/query", `{"sql":"SELECT 1; SELECT 2"}`, "more than one statement", []step{{"sql/query", `{"sql":"SELECT 1"}`}}},
	{"E_TAVILY_INVALID_PARAMS", "tavily/search", `{"query":" "}`, "query", []step{{"tavily/search", `{"query":"x"}`}}},
}

// TestAdviceIsObeyedWithSuccess reads the text of every failure, as a model does, and obeys it.
func TestAdviceIsObeyedWithSuccess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"fs/out/a.txt": "Candor is honest.", "fs/out/full/f": "x", "mb/note.md": "text", "mb/sub/more.md": "x", "py/hello.py": "print('hello')",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"results":[]}`) }))
	defer fake.Close()
	h := start(t, setup{mcp: true, flags: []string{"--dialect", "candor"}, env: []string{
		"MCP_DOMAINS=memory-bank,kg,filesystem,sql,python,playwright,tavily", "MCP_TAVILY_BASE_URL=" + fake.URL, "TAVILY_API_KEY=" + serviceToken,
		"MCP_FS_ROOT=" + filepath.Join(dir, "fs"), "MCP_FS_WRITE_GLOBS=out/**", "MCP_FS_MAX_BYTES=100", "MCP_MB_ROOT=" + filepath.Join(dir, "mb"),
		"MCP_PYTHON_SCRIPTS=" + filepath.Join(dir, "py"), "MCP_PYTHON_CONFINE=auto", "MCP_KG_MAX_TRIPLES=1", "MCP_SQL_WRITE=1",
	}})
	for _, c := range adviceCases {
		text, failed := h.text(c.method, c.args)
		if !failed || !strings.HasPrefix(text, c.code) || !strings.Contains(text, c.advice) {
			t.Errorf("%s %s: want %s with the advice %q:\n%s", c.method, c.args, c.code, c.advice, text)
			continue
		}
		for _, s := range c.obey {
			if text, failed := h.text(s.method, s.args); failed {
				t.Errorf("after %s %s: %s %s\n%s", c.method, c.args, s.method, s.args, text)
			}
		}
	}
}

// text calls a tool and returns its text blocks, as a model sees them, and whether it failed.
func (h *harness) text(method, params string) (text string, failed bool) {
	h.t.Helper()
	answer := h.call(method, params).m
	if message, ok := answer.Error().Path("message").Str(); ok {
		return message, true
	}
	for block := range answer.Result().Path("content").Elements() {
		part, _ := block.Path("text").Str()
		text += part + "\n"
	}
	failed, _ = answer.Result().Path("isError").Bool()
	return text, failed
}
