//go:build linux

package harness_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// leftFiles returns the temporary files of writes below a directory.
func leftFiles(t *testing.T, root string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(root, "out", ".candor-*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func startWriter(t *testing.T, root string) *harness {
	t.Helper()
	return start(t, setup{flags: []string{"--domain", "filesystem"}, env: []string{"MCP_FS_ROOT=" + root, "MCP_FS_WRITE_GLOBS=out/**", "MCP_MAX_LINE_LEN=4000000"}})
}

// TestFilesOfAKilledWriteAreRemoved kills the harness while it writes until a temporary file is left.
func TestFilesOfAKilledWriteAreRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, root, "out/f0", "old")
	content := strings.Repeat("x", 900_000)
	for round := 0; len(leftFiles(t, root)) == 0; round++ {
		if round == 20 {
			t.Skip("no write was interrupted in 20 attempts")
		}
		h := startWriter(t, root)
		for i := range 8 {
			go func() {
				_, _ = fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":%d,"method":"fs/write","params":{"path":"out/f%d","content":%q}}`+"\n", i, i, content)
			}()
		}
		h.line()
		h.kill()
	}
	h := startWriter(t, root)
	h.call("fs/stat", `{"path":"out"}`).result()
	waitFor(t, "temporary files to be removed", func() bool { return len(leftFiles(t, root)) == 0 })
	for i := range 8 {
		if text, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("out/f%d", i))); err == nil && string(text) != content && string(text) != "old" {
			t.Errorf("f%d holds %d bytes, neither the old content nor the new one", i, len(text))
		}
	}
}

// TestOnlyLeftoverFilesAreRemoved has files that look like those of killed writes, or that a running process holds.
func TestOnlyLeftoverFilesAreRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{
		"out/.candor-notes.tmp", "out/.candor-0123456789abcdef.tmp.old", "out/.candor-0123456789ABCDEF.tmp", "out/.candor-00112233445566778.tmp",
		"out/candor-0123456789abcdef.tmp", "out/.candor-aaaaaaaaaaaaaaaa.tmp", "private/.candor-0123456789abcdef.tmp", "target",
		"out/.candor-bbbbbbbbbbbbbbbb.tmp/file",
	} {
		put(t, root, name, "keep")
	}
	if err := os.Symlink("../target", filepath.Join(root, "out/.candor-cccccccccccccccc.tmp")); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(filepath.Join(root, "out/.candor-aaaaaaaaaaaaaaaa.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	kept := tree(t, root)
	put(t, root, "out/.candor-0123456789abcdef.tmp", "left")
	put(t, root, "out/a/b/c/.candor-fedcba9876543210.tmp", "left")
	kept += "out/a out/a/b out/a/b/c "
	h := startWriter(t, root)
	h.call("fs/list", `{}`).result()
	waitFor(t, "left files to be removed", func() bool { return len(strings.Fields(tree(t, root))) <= len(strings.Fields(kept)) })
	if h.end() != 0 {
		t.Error(&h.said)
	}
	for _, name := range strings.Fields(kept) {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
}

// tree returns all paths below a directory.
func tree(t *testing.T, root string) (all string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, _ error) error {
		if path != root {
			all += strings.TrimPrefix(path, root+"/") + " "
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPythonFoldersOfAKilledHarnessAreRemoved kills a harness that runs code. The next one must remove the directory,
// and keep those of running harnesses.
func TestPythonFoldersOfAKilledHarnessAreRemoved(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	folders := func() []string {
		all, err := filepath.Glob(filepath.Join(temp, "candor-python-*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	forever := func() *harness {
		mark := fmt.Sprintf("mark-%d-%d", os.Getpid(), len(folders()))
		h := startPython(t, "TMPDIR="+temp)
		params, _ := json.Marshal(map[string]any{"code": "while True: pass", "args": []string{mark}, "timeoutMs": 60_000})
		h.send(`{"jsonrpc":"2.0","id":"forever","method":"py/run","params":` + string(params) + `}`)
		waitFor(t, "code to run", func() bool { return running(mark) > 0 })
		return h
	}
	living := forever()
	own := folders()
	forever().kill()
	if len(own) != 1 || len(folders()) != 2 {
		t.Fatalf("folders: %v, then %v", own, folders())
	}
	other := filepath.Join(temp, "candor-python-notes")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the folder to be removed", func() bool { // the guard of the killed harness may hold it for a moment
		h := startPython(t, "TMPDIR="+temp)
		h.python("1").result()
		h.end()
		return len(folders()) == 2
	})
	for _, folder := range append(own, other) {
		if _, err := os.Stat(folder); err != nil {
			t.Error(err)
		}
	}
	living.kill()
}
