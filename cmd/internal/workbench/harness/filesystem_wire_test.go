package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
)

// startFiles starts a harness with a root that has links to a directory outside, and a sibling whose name begins with
// the root's.
func startFiles(t testing.TB) (h *harness, root string) {
	t.Helper()
	dir := t.TempDir()
	root = filepath.Join(dir, "fsroot")
	put(t, root, "docs/read me.txt", "hällo\n")
	put(t, root, "out/old.txt", "old")
	put(t, root, "private/x.txt", "private")
	put(t, dir, "fsroot-evil/secret", "the secret")
	put(t, dir, "outside/secret", "the secret")
	for link, to := range map[string]string{
		"leak": "../outside", "out/leak": "../../outside", "out/file": "../../outside/secret", "absolute": filepath.Join(dir, "outside"),
		"out/dangling": "../../outside/new", "inside": "docs", "out/inside": "../private", "loop": "loop",
	} {
		if err := os.Symlink(to, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Skipf("symbolic links: %v", err)
		}
	}
	return start(t, setup{flags: []string{"--domain", "filesystem"},
		env: []string{"MCP_FS_ROOT=" + root, "MCP_FS_WRITE_GLOBS=out/**, *.log", "MCP_FS_MAX_BYTES=100"}}), root
}

// TestH15PathsThatLeaveTheRootAreRefused tries every kind of escape with every method.
func TestH15PathsThatLeaveTheRootAreRefused(t *testing.T) {
	t.Parallel()
	h, root := startFiles(t)
	outside := filepath.Join(filepath.Dir(root), "outside")
	paths := []string{
		"../fsroot-evil/secret", "../fsroot-evil", "docs/../../fsroot-evil/secret", "..", "out/..", "/etc/passwd", outside + "/secret", root + "/docs",
		"leak/secret", "out/leak/secret", "out/file", "absolute/secret", "absolute/", "out/leak/new.txt", "out/dangling",
		"out/a\x00b", "docs/read me.txt\x00", "C:/x", "c:x", `..\outside\secret`, `out\x`,
	}
	for _, path := range paths {
		for _, method := range []string{"fs/read", "fs/stat", "fs/list", "fs/mkdir", "fs/delete", "fs/write"} {
			params := fmt.Sprintf(`{"path":%q}`, path)
			if method == "fs/write" {
				params = fmt.Sprintf(`{"path":%q,"content":"evil"}`, path)
			}
			params = strings.ReplaceAll(params, `\x00`, `\u0000`)
			reply := h.call(method, params).fails(2500, "filesystem/E_FS_PATH_ESCAPE")
			if text := string(reply.m.Bytes()); strings.Contains(text, "the secret") || strings.Contains(text, filepath.Dir(root)) {
				t.Errorf("%s %q leaks: %s", method, path, text)
			}
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder outside was changed: %v, %v", entries, err)
	}
	if content, err := os.ReadFile(filepath.Join(outside, "secret")); string(content) != "the secret" {
		t.Errorf("the file outside was changed: %q, %v", content, err)
	}
}

// TestFilesOutsideOfThePatternsAreNotChanged includes a link that stays inside the root and leads to a path that no
// pattern allows.
func TestFilesOutsideOfThePatternsAreNotChanged(t *testing.T) {
	t.Parallel()
	h, root := startFiles(t)
	for _, path := range []string{"docs/new", "private/x.txt", "out/inside/x.txt", "out/inside", "inside/read me.txt", ".", "OUT/x", "sub/a.log"} {
		h.call("fs/write", fmt.Sprintf(`{"path":%q,"content":"evil"}`, path)).fails(2501, "filesystem/E_FS_DENIED")
		h.call("fs/delete", fmt.Sprintf(`{"path":%q}`, path)).fails(2501, "filesystem/E_FS_DENIED")
	}
	h.call("fs/mkdir", `{"path":"docs/new"}`).fails(2501, "filesystem/E_FS_DENIED")
	h.call("fs/mkdir", `{"path":"new/out"}`).fails(2501, "filesystem/E_FS_DENIED")
	h.call("fs/delete", `{"path":"out"}`).fails(2501, "filesystem/E_FS_DENIED") // not empty
	h.call("fs/write", `{"path":"out","content":""}`).fails(2501, "filesystem/E_FS_DENIED")
	if content, err := os.ReadFile(filepath.Join(root, "private/x.txt")); string(content) != "private" {
		t.Errorf("changed: %q, %v", content, err)
	}
	h.call("fs/write", `{"path":"a.log","content":"fine"}`).result()
	none := start(t, setup{flags: []string{"--domain", "filesystem"}, env: []string{"MCP_FS_ROOT=" + root}})
	none.call("fs/write", `{"path":"a.log","content":"x"}`).fails(2501, "filesystem/E_FS_DENIED")
}

func TestFilesWithUnusualPaths(t *testing.T) {
	t.Parallel()
	h, root := startFiles(t)
	for _, path := range []string{"", strings.Repeat("a", 300), strings.Repeat("a/", 200), "a\nb"} {
		h.call("fs/read", fmt.Sprintf(`{"path":%q}`, path)).fails(1000, "common/E_INVALID_PARAMS")
	}
	for _, path := range []string{"missing", "docs/read me.txt/x", "loop", "Docs/none", strings.Repeat("a/", 100)} {
		h.call("fs/read", fmt.Sprintf(`{"path":%q}`, path)).fails(2502, "filesystem/E_FS_NOT_FOUND")
	}
	h.call("fs/read", `{"path":"docs"}`).fails(1000, "common/E_INVALID_PARAMS")
	h.call("fs/list", `{"path":"docs/read me.txt"}`).fails(1000, "common/E_INVALID_PARAMS")
	huge, err := os.Create(filepath.Join(root, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	if err := huge.Truncate(1 << 40); err != nil {
		t.Skip(err)
	}
	_ = huge.Close()
	read := h.call("fs/read", `{"path":"huge","offset":1099511627770}`).result()
	if n, _ := read.Path("bytes").Int64(); n != 6 {
		t.Errorf("the end of a huge file: %s", read.Raw())
	}
	if got := h.call("fs/read", `{"path":"huge","maxBytes":8}`).result(); !strings.Contains(string(got.Raw()), `"nextOffset":8`) {
		t.Errorf("the beginning of a huge file: %s", got.Raw())
	}
}

func TestEveryCodeOfTheFilesystemIsEmitted(t *testing.T) {
	t.Parallel()
	h, _ := startFiles(t)
	call := func(method, params string) func(*testing.T) string {
		return func(*testing.T) string { return h.call(method, params).code() }
	}
	emits.Check(t, "filesystem/E_FS_PATH_ESCAPE\nfilesystem/E_FS_DENIED\nfilesystem/E_FS_NOT_FOUND\nfilesystem/E_FS_WRITE_TOO_LARGE",
		map[string]func(*testing.T) string{
			"filesystem/E_FS_PATH_ESCAPE":     call("fs/read", `{"path":"../x"}`),
			"filesystem/E_FS_DENIED":          call("fs/write", `{"path":"docs/x","content":""}`),
			"filesystem/E_FS_NOT_FOUND":       call("fs/stat", `{"path":"none"}`),
			"filesystem/E_FS_WRITE_TOO_LARGE": call("fs/write", fmt.Sprintf(`{"path":"out/x","content":%q}`, strings.Repeat("x", 101))),
		})
}
