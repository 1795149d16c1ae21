package clientconfig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstallRepairsBrokenServers moves Candor away after Install: the next Install writes the new command and keeps flags of wrap,
// and Uninstall still restores the first bytes.
func TestInstallRepairsBrokenServers(t *testing.T) {
	t.Parallel()
	for name, candor := range map[string][]string{"path": {"/new/candor"}, "package": {"npx", "-y", "candor-mcp"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			f, _ := faultFile(t, dir)
			old := filepath.Join(dir, "candor")
			writeFile(t, old, nil, 0o700)
			e := testEditor()
			e.Candor = []string{old}
			install(t, e, f)
			if r := install(t, e, f); r.Written {
				t.Fatalf("a sound file was changed: %+v", r)
			}
			if err := os.Remove(old); err != nil {
				t.Fatal(err)
			}
			servers, err := reread(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range servers {
				if s.Status != Broken || s.Problem != old+" does not exist" || !s.Removable() {
					t.Errorf("%s is %s: %s", s.Name, s.Status, s.Problem)
				}
			}
			e.Candor = candor
			if r := install(t, e, f); len(r.Changes) != 2 || !r.Written {
				t.Errorf("repaired: %+v", r)
			}
			want := strings.Join(candor, " ") + " wrap --name "
			servers, err = reread(f)
			if err != nil {
				t.Fatal(err)
			}
			for i, own := range []string{"bare -- server", "full -- npx -y full"} {
				if got := strings.Join(servers[i].Line(), " "); got != want+own {
					t.Errorf("repaired: %s, want %s", got, want+own)
				}
			}
			uninstall(t, e, f)
			if now := string(readFile(t, f.Path)); now != faultInput {
				t.Errorf("after uninstall:\n%s", now)
			}
		})
	}
}

// TestInstallRepairsAndWrapsInOneEdit has broken and unprotected servers in one file.
func TestInstallRepairsAndWrapsInOneEdit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = `{"mcpServers": {
  "moved": {"command": "/nonexistent/candor", "args": ["wrap", "--mode", "observe", "--", "a"]}, // keep
  "plain": {"command": "b"},
  "gate": {"args": ["gateway"], "command": "/nonexistent/candor"},
}}`
	f := File{Client: clientByID(t, "cursor"), Path: filepath.Join(dir, "mcp.json")}
	writeFile(t, f.Path, []byte(text), 0o600)
	e := testEditor()
	e.Candor = []string{"candor"}
	install(t, e, f)
	want := strings.NewReplacer(`"/nonexistent/candor"`, `"candor"`, `"command": "b"`, `"command": "candor", "args": ["wrap", "--name", "plain", "--", "b"]`).Replace(text)
	if now := string(readFile(t, f.Path)); now != want {
		t.Errorf("got\n%s\nwant\n%s", now, want)
	}
}

// TestUninstallRemovesBrokenCandor removes a Candor that was deleted.
func TestUninstallRemovesBrokenCandor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := File{Client: clientByID(t, "cursor"), Path: filepath.Join(dir, "mcp.json")}
	writeFile(t, f.Path, []byte(`{"mcpServers": {"a": {"command": "/nonexistent/candor", "args": ["wrap", "--", "npx", "x"]}}}`), 0o600)
	uninstall(t, testEditor(), f)
	if now := string(readFile(t, f.Path)); now != `{"mcpServers": {"a": {"command": "npx", "args": ["x"]}}}` {
		t.Error(now)
	}
}

// TestInstallLeavesDuplicatesAlone changes the other servers of a file in which a name occurs twice.
func TestInstallLeavesDuplicatesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := File{Client: clientByID(t, "cursor"), Path: filepath.Join(dir, "mcp.json")}
	const text = `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "args": []}, "a": {"command": "c"}}}`
	writeFile(t, f.Path, []byte(text), 0o600)
	e := testEditor()
	e.Candor = []string{"candor"}
	if r := install(t, e, f); len(r.Changes) != 1 {
		t.Errorf("%+v", r)
	}
	if now := string(readFile(t, f.Path)); now != strings.Replace(text, `"b", "args": []`, `"candor", "args": ["wrap","--name","b","--","b"]`, 1) {
		t.Error(now)
	}
	uninstall(t, e, f)
	if now := string(readFile(t, f.Path)); now != text {
		t.Error(now)
	}
}

// TestRepairSurvivesFaults fails each call that writes, in turn: the file has its old or its new bytes, and the next runs repair it
// and restore the text from before the first installation.
func TestRepairSurvivesFaults(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		dir := t.TempDir()
		f, _ := faultFile(t, dir)
		old := filepath.Join(dir, "candor")
		writeFile(t, old, nil, 0o700)
		e := testEditor()
		e.Candor = []string{old}
		install(t, e, f)
		broken := string(readFile(t, f.Path))
		if err := os.Remove(old); err != nil {
			t.Fatal(err)
		}
		e.Candor = []string{"npx", "-y", "candor-mcp"}
		n, where := 0, ""
		e.step = func(call string) error {
			if n++; n == at {
				where = call
				return errors.New("injected")
			}
			return nil
		}
		_, err := e.Install(context.Background(), f, every)
		e.step = nil
		if where == "" {
			if err != nil || at < 10 {
				t.Fatalf("%d steps, error %v", at-1, err)
			}
			return
		}
		noTemporary(t, dir, where)
		if now := string(readFile(t, f.Path)); now != broken && !strings.Contains(now, "candor-mcp") {
			t.Errorf("fault at step %d, %s: the file has\n%s", at, where, now)
		}
		install(t, e, f)
		uninstall(t, e, f)
		if now := string(readFile(t, f.Path)); now != faultInput {
			t.Errorf("fault at step %d, %s: after uninstall:\n%s", at, where, now)
		}
	}
}

func reread(f File) ([]Server, error) {
	t, err := f.open()
	if err != nil {
		return nil, err
	}
	return f.Client.servedIn(t)
}
