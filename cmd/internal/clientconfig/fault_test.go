package clientconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// faultInput has a server without arguments and one with some.
const faultInput = `{
  // mine
  "mcpServers": {
    "bare": {"command": "server"},
    "full": {"command": "npx", "args": ["-y", "full"], "env": {"KEY": "value"}},
  },
}
`

// faultFile writes the input below dir and returns it, and its content after Install.
func faultFile(t *testing.T, dir string) (f File, edited []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "client"), 0o700); err != nil {
		t.Fatal(err)
	}
	f = File{Client: clientByID(t, "cursor"), Path: filepath.Join(dir, "client", "mcp.json")}
	writeFile(t, f.Path, []byte(faultInput), 0o600)
	other := t.TempDir()
	g := File{Client: f.Client, Path: filepath.Join(other, "mcp.json")}
	writeFile(t, g.Path, []byte(faultInput), 0o600)
	install(t, testEditor(), g)
	return f, readFile(t, g.Path)
}

// TestInstallSurvivesFaults fails each call that writes, in turn: the file has its old or its new bytes, nothing temporary stays,
// and the next run succeeds.
func TestInstallSurvivesFaults(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		t.Run(fmt.Sprintf("undo=%t", undo), func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				dir := t.TempDir()
				f, edited := faultFile(t, dir)
				e := testEditor()
				run := func() error { _, err := e.Install(context.Background(), f, every); return err }
				if undo {
					install(t, e, f)
					run = func() error { _, err := e.Uninstall(context.Background(), f, every); return err }
				}
				fault, n, where := errors.New("injected"), 0, ""
				e.step = func(call string) error {
					if n++; n == at {
						where = call
						return fault
					}
					return nil
				}
				err := run()
				e.step = nil
				if where == "" {
					if err != nil || at < 10 {
						t.Fatalf("%d steps, error %v", at-1, err)
					}
					return
				}
				if !errors.Is(err, fault) {
					t.Errorf("step %d (%s): error %v", at, where, err)
				}
				noTemporary(t, dir, where)
				checkSurvival(t, e, f, []byte(faultInput), edited, fmt.Sprintf("fault at step %d, %s", at, where))
			}
		})
	}
}

func noTemporary(t *testing.T, dir, where string) {
	t.Helper()
	if names := namesIn(t, filepath.Join(dir, "client")); slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, temporaryMark) }) {
		t.Errorf("%s: temporary files are left: %q", where, names)
	}
}

// checkSurvival checks the file after a fault, and that the next runs install, and uninstall to the same bytes.
func checkSurvival(t *testing.T, e *Editor, f File, before, edited []byte, where string) {
	t.Helper()
	dir := filepath.Dir(f.Path)
	switch now := readFile(t, f.Path); {
	case bytes.Equal(now, before):
	case bytes.Equal(now, edited):
		if backup := readFile(t, f.Path+".candor-backup-20260102T030405Z"); !bytes.Equal(backup, before) {
			t.Errorf("%s: the backup has\n%s", where, backup)
		}
	default:
		t.Errorf("%s: the file has\n%s", where, now)
	}
	install(t, e, f)
	if now := readFile(t, f.Path); !bytes.Equal(now, edited) {
		t.Errorf("%s: after the next install:\n%s", where, now)
	}
	uninstall(t, e, f)
	if now := readFile(t, f.Path); !bytes.Equal(now, before) {
		t.Errorf("%s: after uninstall:\n%s", where, now)
	}
	if names := namesIn(t, dir); !slices.Equal(names, []string{filepath.Base(f.Path)}) {
		t.Errorf("%s: files are left: %q", where, names)
	}
}

// TestInstallKeepsConcurrentChange changes the file while Install writes the new one.
func TestInstallKeepsConcurrentChange(t *testing.T) {
	dir := t.TempDir()
	f, _ := faultFile(t, dir)
	e := testEditor()
	theirs := []byte(strings.Replace(faultInput, "mine", "theirs", 1))
	e.step = func(call string) error {
		if call == "close" {
			writeFile(t, f.Path, theirs, 0o600)
		}
		return nil
	}
	r, err := e.Install(context.Background(), f, every)
	if err == nil || r.Written || !strings.Contains(err.Error(), "another program changed the file") {
		t.Errorf("result %+v, error %v", r, err)
	}
	if now := readFile(t, f.Path); !bytes.Equal(now, theirs) {
		t.Errorf("the change of the other program is lost:\n%s", now)
	}
}

// TestUninstallKeepsUserEdits edits the file after Install.
func TestUninstallKeepsUserEdits(t *testing.T) {
	dir := t.TempDir()
	f, edited := faultFile(t, dir)
	e := testEditor()
	install(t, e, f)
	change := strings.NewReplacer(`"KEY": "value"`, `"KEY": "other", "NEW": "x"`, "// mine", "// mine, edited")
	writeFile(t, f.Path, []byte(change.Replace(string(edited))), 0o600)
	uninstall(t, e, f)
	if now := string(readFile(t, f.Path)); now != change.Replace(faultInput) {
		t.Errorf("got\n%s", now)
	}
	if backup := readFile(t, f.Path+".candor-backup-20260102T030405Z"); string(backup) != faultInput {
		t.Errorf("the first backup has\n%s", backup)
	}
}

// TestUninstallKeepsBackupWithFlags keeps the only copy of flags that the user gave to wrap.
func TestUninstallKeepsBackupWithFlags(t *testing.T) {
	dir := t.TempDir()
	const text = `{"mcpServers": {"a": {"command": "candor", "args": ["wrap", "--mode", "observe", "--", "a"]}, "b": {"command": "b", "args": []}}}`
	f := File{Client: clientByID(t, "cursor"), Path: filepath.Join(dir, "mcp.json")}
	writeFile(t, f.Path, []byte(text), 0o600)
	e := testEditor()
	install(t, e, f)
	uninstall(t, e, f)
	if backup := readFile(t, f.Path+".candor-backup-20260102T030405Z"); string(backup) != text {
		t.Errorf("the backup has\n%s", backup)
	}
}
