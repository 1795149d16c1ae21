package gatewaycmd

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWatchedFilesWaitForTheLastWrite(t *testing.T) {
	t.Parallel()
	var w watchedFiles
	file := filepath.Join(t.TempDir(), "candor.yaml")
	for i, text := range []string{"a", "ab", "ac", "ad"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			_, _ = w.read(file) // exists
		}
		if w.changed() {
			t.Errorf("%q was used while the file was still being written", text)
		}
	}
	if !w.changed() {
		t.Error("the last write was not noticed")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if w.changed() || !w.changed() {
		t.Error("the end of the file was not noticed at the second look")
	}
	w = watchedFiles{}
	_, _ = w.read(file) // does not exist
	for range 2 {
		if w.changed() {
			t.Error("a change was noticed twice")
		}
	}
}
