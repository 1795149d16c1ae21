package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStateAndKeysAreNotServed uses a root that contains the state, the ledger and the user's folder of keys, reached by
// their paths, by links, and by a second name of a key.
func TestStateAndKeysAreNotServed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	state := filepath.Join(root, "state")
	for path, text := range map[string]string{
		"notes/a.txt": "PRIVATE+KEY in a note", "home/.local/state/candor/ledger/keys/signer.key": "PRIVATE+KEY+other",
		"state/keys/a.key": "PRIVATE+KEY+state",
	} {
		put(t, root, path, text)
	}
	h := start(t, setup{
		state: state, flags: []string{"--domain", "filesystem", "--domain", "memory-bank", "--ledger", filepath.Join(root, "elsewhere")},
		env: []string{"MCP_FS_ROOT=" + root, "MCP_MB_ROOT=" + root, "MCP_FS_WRITE_GLOBS=**", "HOME=" + filepath.Join(root, "home"), "XDG_STATE_HOME="},
	})
	for link, to := range map[string]string{"notes/out": "../state", "notes/up": "../state/keys/../keys", "twice": "notes/out/keys", "key.txt": "elsewhere/keys/signer.key"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Link(filepath.Join(root, "elsewhere/keys/signer.key"), filepath.Join(root, "notes/second.txt")); err != nil {
		t.Skip(err)
	}
	before, err := os.ReadDir(state)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"state/keys/a.key", "state/./keys//a.key", "notes/out/keys/a.key", "notes/up/a.key", "twice/a.key", "key.txt", "elsewhere/keys/signer.key",
		"home/.local/state/candor/ledger/keys/signer.key", "notes/second.txt", "state/version.json", "state", "elsewhere", "twice", "state/keys/new/key",
	} {
		params := fmt.Sprintf(`{"path":%q,"file":%[1]q}`, path)
		for _, method := range []string{"fs/read", "fs/stat", "fs/list", "fs/write", "fs/delete", "fs/mkdir", "fs/edit", "fs/move"} {
			only := fmt.Sprintf(`{"path":%q}`, path)
			switch method {
			case "fs/write":
				only = fmt.Sprintf(`{"path":%q,"content":"evil"}`, path)
			case "fs/edit":
				only = fmt.Sprintf(`{"path":%q,"edits":[{"old":"PRIVATE","new":"x"}]}`, path)
			case "fs/move":
				only = fmt.Sprintf(`{"from":%q,"to":"notes/moved.txt"}`, path)
			}
			if path == "notes/second.txt" && !slices.Contains([]string{"fs/read", "fs/edit", "fs/move"}, method) || path == "key.txt" && method == "fs/list" {
				continue // it says nothing about the key, and writing replaces only this name
			}
			if got := h.call(method, only); !strings.HasPrefix(got.code(), "filesystem/") || strings.Contains(string(got.m.Bytes()), "PRIVATE+") {
				t.Errorf("%s %s: %s", method, path, got.m.Bytes())
			}
		}
		if got := h.call("mb/read", strings.Replace(params, fmt.Sprintf(`"path":%q,`, path), "", 1)); got.number() != 2300 && got.number() != 2301 {
			t.Errorf("mb/read %s: %s", path, got.m.Bytes())
		}
	}
	for _, call := range [][2]string{{"mb/list", `{}`}, {"mb/search", `{"q":"PRIVATE+KEY"}`}, {"fs/search", `{"glob":"**"}`}, {"fs/search", `{"q":"PRIVATE+KEY"}`}} {
		if got := string(h.call(call[0], call[1]).result().Raw()); strings.Contains(got, "signer.key") || strings.Contains(got, "a.key") || !strings.Contains(got, "notes/a.txt") {
			t.Errorf("%s: %s", call[0], got)
		}
	}
	if after, err := os.ReadDir(state); err != nil || len(after) != len(before) {
		t.Errorf("the state was changed: %v, %v", after, err)
	}
	h.call("fs/read", `{"path":"notes/a.txt"}`).result()
	h.call("fs/write", `{"path":"notes/b.txt","content":"fine"}`).result()
}

// TestNoDomainOpensTheStateFolder names the state or ledger folder, or a path in it, in the variable of each domain.
func TestNoDomainOpensTheStateFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	put(t, state, "keys/a.key", "PRIVATE+KEY")
	put(t, dir, "ledger/x", "")
	if err := os.Symlink(state, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for domain, value := range map[string]string{
		"filesystem": "MCP_FS_ROOT=" + state, "memory-bank": "MCP_MB_ROOT=" + filepath.Join(dir, "ledger"), "kg": "MCP_KG_FILE=" + filepath.Join(state, "new.db"),
		"sql": "MCP_SQL_URL=sqlite:" + filepath.Join(dir, "link", "keys", "data.db"), "python": "MCP_PYTHON_SCRIPTS=" + filepath.Join(dir, "link", "keys"),
	} {
		s := setup{state: state, flags: []string{"--domain", domain, "--ledger", filepath.Join(dir, "ledger")}, env: []string{value}}
		cmd := s.command(t)
		out, _ := cmd.CombinedOutput()
		name, _, _ := strings.Cut(value, "=")
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), name) || !strings.Contains(string(out), "outside of the state") {
			t.Errorf("%s: exit code %d: %s", value, cmd.ProcessState.ExitCode(), out)
		}
	}
}
