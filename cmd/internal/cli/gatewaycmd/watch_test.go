package gatewaycmd

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatchedFilesNoticeChangesOfTheSameSize(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	write := func(t *testing.T, name, text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(t *testing.T, file string){
		"written in place": func(t *testing.T, file string) { t.Helper(); write(t, file, "b", noon.Add(time.Second)) },
		"another file of the same time": func(t *testing.T, file string) {
			t.Helper()
			write(t, file+".next", "b", noon)
			if err := os.Rename(file+".next", file); err != nil {
				t.Fatal(err)
			}
		},
		"removed": func(t *testing.T, file string) {
			t.Helper()
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w watchedFiles
			file := filepath.Join(t.TempDir(), "candor.yaml")
			write(t, file, "a", noon)
			if _, err := w.read(file); err != nil {
				t.Fatal(err)
			}
			if looks := [2]bool{w.changed(), w.changed()}; looks[0] || looks[1] {
				t.Error("a change was noticed before there was one")
			}
			before := w.digest()
			change(t, file)
			if w.changed() {
				t.Error("the change was used at the first look, when it may be half written")
			}
			if !w.changed() {
				t.Fatal("the change was not noticed")
			}
			w.forget()
			_, _ = w.read(file) // may not exist
			if looks := [2]bool{w.changed(), w.changed()}; w.digest() == before || looks[0] || looks[1] {
				t.Error("the change was noticed again, or not in the digest")
			}
		})
	}
}

func TestWatchedFilesWaitForTheLastWrite(t *testing.T) {
	t.Parallel()
	var w watchedFiles
	file := filepath.Join(t.TempDir(), "candor.yaml")
	for i, text := range []string{"a", "ab", "abc", "abcd"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			_, _ = w.read(file) // exists
		}
		if w.changed() {
			t.Errorf("%q was used while the file was still growing", text)
		}
	}
	if !w.changed() {
		t.Error("the last write was not noticed")
	}
}
