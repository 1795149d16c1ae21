package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
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

// startBank starts a harness with a memory bank that has a few notes, a secret beside it and a link to the secret.
func startBank(t testing.TB) (h *harness, bank string) {
	t.Helper()
	dir := t.TempDir()
	bank = filepath.Join(dir, "bank")
	put(t, bank, "notes/one.md", "alpha\nBeta ünïcode\n")
	put(t, bank, "übung.md", "beta\n")
	put(t, bank, "binary.dat", "\xff\xfe\x00")
	put(t, bank, "huge.txt", strings.Repeat("x", 2<<20))
	put(t, dir, "bank-evil/secret", "the secret beta\n")
	if err := os.Symlink("../bank-evil/secret", filepath.Join(bank, "link.md")); err != nil {
		t.Skipf("symbolic links: %v", err)
	}
	return start(t, setup{flags: []string{"--domain", "memory-bank"}, env: []string{"MCP_MB_ROOT=" + bank}}), bank
}

func TestMemoryBankListsReadsAndSearches(t *testing.T) {
	t.Parallel()
	h, _ := startBank(t)
	list := string(h.call("mb/list", `{"limit":2}`).result().Raw())
	if !strings.Contains(list, `"binary.dat"`) || !strings.Contains(list, `"nextCursor":"huge.txt"`) || strings.Contains(list, "link.md") {
		t.Errorf("first page: %s", list)
	}
	list = string(h.call("mb/list", `{"cursor":"huge.txt"}`).result().Raw())
	if !strings.Contains(list, `"notes/one.md"`) || !strings.Contains(list, `"übung.md"`) || strings.Contains(list, "huge.txt") {
		t.Errorf("second page: %s", list)
	}
	if got, _ := h.call("mb/read", `{"file":"./notes//one.md"}`).result().Path("content").Str(); got != "alpha\nBeta ünïcode\n" {
		t.Errorf("content: %q", got)
	}
	found := string(h.call("mb/search", `{"q":"BETA","limit":1}`).result().Raw())
	if !strings.Contains(found, `"line":2`) || !strings.Contains(found, `"nextCursor":"2:notes/one.md"`) || !strings.Contains(found, `"skipped":2`) {
		t.Errorf("first match: %s", found)
	}
	found = string(h.call("mb/search", `{"q":"beta","cursor":"2:notes/one.md"}`).result().Raw())
	if !strings.Contains(found, `"übung.md"`) || strings.Contains(found, "secret") || !strings.Contains(found, `"truncated":false`) {
		t.Errorf("second match: %s", found)
	}
}

// TestMemoryBankRevealsNothingOutside requires the same answer for files outside of the bank as for files that do not
// exist.
func TestMemoryBankRevealsNothingOutside(t *testing.T) {
	t.Parallel()
	h, bank := startBank(t)
	want := h.call("mb/read", `{"file":"missing.md"}`).fails(2300, "memory-bank/E_MB_FILE_NOT_FOUND").details()
	for _, name := range []string{
		"../bank-evil/secret", "../bank-evil/none", "link.md", "notes/../../bank-evil/secret", filepath.Join(filepath.Dir(bank), "bank-evil/secret"),
		"/etc/passwd", "..", ".", "", "a\x00b", `..\bank-evil\secret`, "C:/secret", strings.Repeat("a/", 3000), "notes/one.md/x",
	} {
		params := strings.ReplaceAll(fmt.Sprintf(`{"file":%q}`, name), `\x00`, `\u0000`)
		reply := h.call("mb/read", params).fails(2300, "memory-bank/E_MB_FILE_NOT_FOUND")
		if got := reply.details(); got != want || strings.Contains(string(reply.m.Bytes()), "secret beta") {
			t.Errorf("%q: details %s, want %s", name, got, want)
		}
	}
}

func TestMemoryBankSkipsUnreadableFiles(t *testing.T) {
	t.Parallel()
	h, bank := startBank(t)
	if err := os.MkdirAll(filepath.Join(bank, strings.Repeat("d/", 60)), 0o755); err != nil {
		t.Fatal(err)
	}
	if deep := string(h.call("mb/list", `{}`).result().Raw()); !strings.Contains(deep, `"incomplete":true`) {
		t.Errorf("deep folders: %s", deep)
	}
	for _, name := range []string{"huge.txt", "binary.dat", "notes"} {
		h.call("mb/read", fmt.Sprintf(`{"file":%q}`, name)).fails(2301, "memory-bank/E_MB_READ")
	}
	h.call("mb/search", `{"q":7}`).fails(1000, "common/E_INVALID_PARAMS")
	h.call("mb/search", `{"q":""}`).fails(1000, "common/E_INVALID_PARAMS")
	h.call("mb/search", `{"q":"x","cursor":"bad"}`).fails(1000, "common/E_INVALID_PARAMS")
	h.call("mb/search", fmt.Sprintf(`{"q":%q}`, strings.Repeat("ü", 201))).fails(1005, "common/E_INPUT_TOO_LARGE")
	h.call("mb/search", fmt.Sprintf(`{"q":%q}`, strings.Repeat("ü", 200))).result()
}

func TestEveryCodeOfTheMemoryBankIsEmitted(t *testing.T) {
	t.Parallel()
	h, _ := startBank(t)
	emits.Check(t, "memory-bank/E_MB_FILE_NOT_FOUND\nmemory-bank/E_MB_READ", map[string]func(*testing.T) string{
		"memory-bank/E_MB_FILE_NOT_FOUND": func(*testing.T) string { return h.call("mb/read", `{"file":"missing.md"}`).code() },
		"memory-bank/E_MB_READ":           func(*testing.T) string { return h.call("mb/read", `{"file":"binary.dat"}`).code() },
	})
}
