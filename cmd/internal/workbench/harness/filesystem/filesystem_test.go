package filesystem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/testing/domaintest"
)

// caller opens the domain below a new folder and returns a function that calls its methods.
func caller(t *testing.T, globs string) (root string, call func(method, params string) (string, *candor.Error)) {
	t.Helper()
	root = t.TempDir()
	return root, domaintest.Open(t, Open, map[string]string{"MCP_FS_ROOT": root, "MCP_FS_WRITE_GLOBS": globs, "MCP_FS_MAX_BYTES": "100"})
}

func TestWriteReplacesAndKeepsTheMode(t *testing.T) {
	root, call := caller(t, "out/**")
	if err := os.MkdirAll(filepath.Join(root, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "out", "a")
	for i, want := range []string{`"created":true`, `"created":false`} {
		got, err := call("fs/write", `{"path":"out/a","content":"text"}`)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("write %d: %s %v", i, got, err)
		}
		if err := os.Chmod(name, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := call("fs/write", `{"path":"out/a","content":"new"}`); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("%v %v", info, err)
	}
	if left, _ := os.ReadDir(filepath.Join(root, "out")); len(left) != 1 {
		t.Errorf("files: %v", left)
	}
}

func TestPartsOfTextEndWithWholeCharacters(t *testing.T) {
	root, call := caller(t, "")
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("häß\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	for params, want := range map[string]string{
		`{"path":"a","maxBytes":4}`:            `"encoding":"utf-8","content":"hä","offset":0,"bytes":3,"size":6,"truncated":true,"nextOffset":3`,
		`{"path":"a","maxBytes":4,"offset":1}`: `"content":"äß"`,
		`{"path":"a","offset":5}`:              `"encoding":"base64","content":"/w=="`,
		`{"path":"a","offset":9}`:              `"content":""`,
	} {
		if got, err := call("fs/read", params); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s %v", params, got, err)
		}
	}
}

func TestListIsReadInPages(t *testing.T) {
	root, call := caller(t, "")
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, err1 := call("fs/list", `{"limit":2}`)
	rest, err2 := call("fs/list", `{"limit":2,"cursor":"after:b"}`)
	if err1 != nil || err2 != nil || !strings.Contains(first, `"truncated":true,"nextCursor":"after:b"`) || !strings.Contains(rest, `"name":"c"`) || strings.Contains(rest, `"name":"b"`) {
		t.Errorf("%s %v, %s %v", first, err1, rest, err2)
	}
}

// TestEditSearchAndMove also follows the advice of every refusal.
func TestEditSearchAndMove(t *testing.T) {
	_, call := caller(t, "out/**")
	for _, c := range []struct{ method, params, want string }{ // want is a part of the result, or of the code, details and suggestion
		{"fs/write", `{"path":"out","content":"x"}`, "E_FS_DENIED"},
		{"fs/write", `{"path":"out/a.txt","content":"x"}`, "fs/mkdir"},
		{"fs/edit", `{"path":"out/a.txt","edits":[{"old":"a","new":"b"}]}`, "List the parent folder"},
		{"fs/mkdir", `{"path":"out"}`, `"created":true`},
		{"fs/write", `{"path":"out/a.txt","content":"one\ntwo\ntwo\n"}`, `"created":true`},
		{"fs/edit", `{"path":"out/a.txt","edits":[{"old":"two","new":"2"}]}`, "occurs 2 times"},
		{"fs/edit", `{"path":"out/a.txt","edits":[{"old":"three","new":"3"}]}`, "does not occur"},
		{"fs/edit", `{"path":"out/a.txt","edits":[{"old":"one\ntwo","new":"1"}],"dryRun":true}`, `"changed":false`},
		{"fs/edit", `{"path":"out/a.txt","edits":[{"old":"one","new":"1"},{"old":"1\ntwo","new":"1\nTwo"}]}`, `"lines":[1,1],"changed":true`},
		{"fs/read", `{"path":"out/a.txt"}`, `"content":"1\nTwo\ntwo\n"`},
		{"fs/edit", `{"path":"a.txt","edits":[{"old":"a","new":"b"}]}`, "E_FS_DENIED"},
		{"fs/search", `{"q":"TWO"}`, `{"file":"out/a.txt","line":3,"text":"two"}`},
		{"fs/search", `{"glob":"**/*.txt"}`, `"matches":[{"file":"out/a.txt"}]`},
		{"fs/search", `{"path":"out","glob":"*.md"}`, `"matches":[]`},
		{"fs/search", `{}`, "E_INVALID_PARAMS"},
		{"fs/list", `{"cursor":"junk"}`, "cursor"},
		{"fs/delete", `{"path":"out"}`, "delete its entries first"},
		{"fs/move", `{"from":"out/a.txt","to":"b.txt"}`, "E_FS_DENIED"},
		{"fs/move", `{"from":"out/a.txt","to":"out/a.txt"}`, "new name"},
		{"fs/move", `{"from":"out/a.txt","to":"out/b.txt"}`, `"bytes":10`},
		{"fs/move", `{"from":"out/a.txt","to":"out/c.txt"}`, "E_FS_NOT_FOUND"},
		{"fs/list", `{"path":"out"}`, `"entries":[{"name":"b.txt"`},
	} {
		got, e := call(c.method, c.params)
		if e != nil {
			got = e.Code().Symbol() + " " + e.Details().String() + " " + e.Suggestion()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %s: want %q: %s", c.method, c.params, c.want, got)
		}
	}
}
