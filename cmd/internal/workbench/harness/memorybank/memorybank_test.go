package memorybank_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/testing/domaintest"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/memorybank"
	"github.com/candor-mcp/candor/codes/common"
	memorybankcode "github.com/candor-mcp/candor/codes/memorybank"
)

// put writes a file below dir and creates its parent directories.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bank is a memory bank that has a few notes, a secret beside it and a link to the secret.
type bank struct {
	t    testing.TB
	dir  string
	call func(method, params string) (string, *candor.Error)
}

func newBank(t testing.TB) *bank {
	t.Helper()
	dir := t.TempDir()
	b := &bank{t: t, dir: filepath.Join(dir, "bank")}
	put(t, b.dir, "notes/one.md", "alpha\nBeta ünïcode\n")
	put(t, b.dir, "übung.md", "beta\n")
	put(t, b.dir, "binary.dat", "\xff\xfe\x00")
	put(t, b.dir, "huge.txt", strings.Repeat("x", 2<<20))
	put(t, dir, "bank-evil/secret", "the secret beta\n")
	if err := os.Symlink("../bank-evil/secret", filepath.Join(b.dir, "link.md")); err != nil {
		t.Skipf("symbolic links: %v", err)
	}
	b.call = domaintest.Open(t, memorybank.Open, map[string]string{"MCP_MB_ROOT": b.dir})
	return b
}

// result calls a method that must succeed.
func (b *bank) result(method, params string) string {
	b.t.Helper()
	text, e := b.call(method, params)
	if e != nil {
		b.t.Fatalf("%s %s: %v", method, params, e)
	}
	return text
}

// fails calls a method that must fail with a code.
func (b *bank) fails(want candor.Code, method, params string) {
	b.t.Helper()
	if text, e := b.call(method, params); e == nil || e.Code() != want {
		b.t.Fatalf("%s %.80s: %s, %v, want %v", method, params, text, e, want)
	}
}

func TestListReadAndSearch(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	list := b.result("mb/list", `{"limit":2}`)
	if !strings.Contains(list, `"binary.dat"`) || !strings.Contains(list, `"nextCursor":"after:huge.txt"`) || strings.Contains(list, "link.md") {
		t.Errorf("first page: %s", list)
	}
	list = b.result("mb/list", `{"cursor":"after:huge.txt"}`)
	if !strings.Contains(list, `"notes/one.md"`) || !strings.Contains(list, `"übung.md"`) || strings.Contains(list, "huge.txt") {
		t.Errorf("second page: %s", list)
	}
	if got := b.result("mb/read", `{"file":"./notes//one.md"}`); !strings.Contains(got, `"content":"alpha\nBeta ünïcode\n"`) {
		t.Errorf("content: %s", got)
	}
	found := b.result("mb/search", `{"q":"BETA","limit":1}`)
	if !strings.Contains(found, `"line":2`) || !strings.Contains(found, `"nextCursor":"2:notes/one.md"`) || !strings.Contains(found, `"skipped":2`) {
		t.Errorf("first match: %s", found)
	}
	found = b.result("mb/search", `{"q":"beta","cursor":"2:notes/one.md"}`)
	if !strings.Contains(found, `"übung.md"`) || strings.Contains(found, "secret") || !strings.Contains(found, `"truncated":false`) {
		t.Errorf("second match: %s", found)
	}
}

// TestNothingOutsideIsRevealed requires the same answer for files outside of the bank as for files that do not exist.
func TestNothingOutsideIsRevealed(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	_, want := b.call("mb/read", `{"file":"missing.md"}`)
	for _, name := range []string{
		"../bank-evil/secret", "../bank-evil/none", "link.md", "notes/../../bank-evil/secret", filepath.Join(filepath.Dir(b.dir), "bank-evil/secret"),
		"/etc/passwd", "..", ".", "", "a\x00b", `..\bank-evil\secret`, "C:/secret", strings.Repeat("a/", 3000), "notes/one.md/x",
	} {
		params := strings.ReplaceAll(fmt.Sprintf(`{"file":%q}`, name), `\x00`, `\u0000`)
		b.fails(memorybankcode.FileNotFound, "mb/read", params)
		if _, got := b.call("mb/read", params); got.Message() != want.Message() || got.Details().String() != want.Details().String() {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestUnreadableFilesAreSkipped(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	if err := os.MkdirAll(filepath.Join(b.dir, strings.Repeat("d/", 60)), 0o755); err != nil {
		t.Fatal(err)
	}
	if deep := b.result("mb/list", `{}`); !strings.Contains(deep, `"incomplete":true`) {
		t.Errorf("deep folders: %s", deep)
	}
	for _, name := range []string{"huge.txt", "binary.dat", "notes"} {
		b.fails(memorybankcode.Read, "mb/read", fmt.Sprintf(`{"file":%q}`, name))
	}
	b.fails(common.InvalidParams, "mb/search", `{"q":"x","cursor":"bad"}`)
	b.fails(common.InputTooLarge, "mb/search", fmt.Sprintf(`{"q":%q}`, strings.Repeat("ü", 201)))
	b.result("mb/search", fmt.Sprintf(`{"q":%q}`, strings.Repeat("ü", 200)))
}
