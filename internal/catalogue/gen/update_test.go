package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/internal/catalogue/render"
)

func TestUpdateWritesAndSweeps(t *testing.T) {
	root := t.TempDir()
	for _, folder := range render.Folders {
		put(t, root, folder+"/keep.md", "old")
	}
	put(t, root, "docs/codes/gone/OLD.md", "stale")
	put(t, root, "docs/codes/README.md", "old")
	put(t, root, "docs/words.md", "not ours")
	files := render.Files{"docs/codes/README.md": []byte("new"), "docs/codes/kaiza/A.md": []byte("a")}
	for _, folder := range render.Folders {
		files[folder+"/keep.md"] = []byte("old")
	}
	if err := update(root, files); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"docs/codes/README.md": "new", "docs/codes/kaiza/A.md": "a", "docs/words.md": "not ours"} {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, and %q was due", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "docs/codes/gone")); !os.IsNotExist(err) {
		t.Errorf("the stale folder is still there: %v", err)
	}
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	if err := write(filepath.Join(root, name), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestAnUnsoundCatalogueWritesNothing(t *testing.T) {
	root := t.TempDir()
	put(t, root, "spec/catalogue.json", `{"version": 2, "domains": [], "codes": []}`)
	phrases, err := os.ReadFile("../../../spec/contradictions.json")
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, "spec/contradictions.json", string(phrases))
	if err := run(root, false); err == nil {
		t.Error("an unsound catalogue was accepted")
	}
	if _, err := os.Stat(filepath.Join(root, "codes_gen.go")); !os.IsNotExist(err) {
		t.Error("files were written from an unsound catalogue")
	}
}
