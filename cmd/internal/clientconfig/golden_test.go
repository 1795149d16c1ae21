package clientconfig

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func clientByID(t testing.TB, id string) Client {
	t.Helper()
	for _, c := range Clients() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no client %q", id)
	return Client{}
}

func testEditor() *Editor {
	return &Editor{Candor: []string{"/usr/local/bin/candor"},
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
}

func every(Server) bool { return true }

// TestInstallGolden installs every documented shape of file, compares with the golden file, installs again and uninstalls.
func TestInstallGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/clients/*")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, input := range inputs {
		if strings.Contains(input, ".golden.") {
			continue
		}
		id, _, _ := strings.Cut(filepath.Base(input), ".")
		id = strings.TrimSuffix(id, "-inline")
		tested[id] = true
		t.Run(filepath.Base(input), func(t *testing.T) {
			dir := t.TempDir()
			before, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			f := File{Client: clientByID(t, id), Path: filepath.Join(dir, filepath.Base(input))}
			writeFile(t, f.Path, before, 0o640)
			e := testEditor()
			if r := install(t, e, f); len(r.Changes) == 0 || !r.Written {
				t.Fatalf("nothing was changed: %+v", r)
			}
			checkGolden(t, input, readFile(t, f.Path))
			checkMode(t, f.Path, 0o640)
			if backup := readFile(t, f.Path+".candor-backup-20260102T030405Z"); !bytes.Equal(backup, before) {
				t.Errorf("backup has other content:\n%s", backup)
			}
			if r := install(t, e, f); len(r.Changes) > 0 || r.Written {
				t.Errorf("second run changed %+v", r.Changes)
			}
			uninstall(t, e, f)
			if after := readFile(t, f.Path); !bytes.Equal(after, before) {
				t.Errorf("after uninstall:\n%s\nbefore install:\n%s", after, before)
			}
			checkMode(t, f.Path, 0o640)
			if names := namesIn(t, dir); len(names) != 1 {
				t.Errorf("files left behind: %q", names)
			}
		})
	}
	for _, c := range Clients() {
		if !tested[c.ID] {
			t.Errorf("client %s has no golden file", c.ID)
		}
	}
}

func install(t *testing.T, e *Editor, f File) Result {
	t.Helper()
	r, err := e.Install(context.Background(), f, every)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func uninstall(t *testing.T, e *Editor, f File) Result {
	t.Helper()
	r, err := e.Uninstall(context.Background(), f, every)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func checkGolden(t *testing.T, input string, got []byte) {
	t.Helper()
	golden := strings.TrimSuffix(input, filepath.Ext(input)) + ".golden" + filepath.Ext(input)
	if *update {
		writeFile(t, golden, got, 0o600)
	}
	if want := readFile(t, golden); !bytes.Equal(got, want) {
		t.Errorf("after install:\n%s\nwant:\n%s", got, want)
	}
}

func checkMode(t *testing.T, name string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if os.PathSeparator == '/' && info.Mode().Perm() != want {
		t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), want)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, name string, data []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
