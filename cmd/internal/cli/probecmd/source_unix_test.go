//go:build unix

package probecmd

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSARIFRefersToFilesOfTheRepository checks which files are in the repository. It changes the working directory, so it does not run in
// parallel.
func TestSARIFRefersToFilesOfTheRepository(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "repo")
	for _, name := range []string{"repo/.git/HEAD", "repo/dist/index.js", "outside.js"} {
		file := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "dist"))
	for file, want := range map[string]string{
		root + "/dist/index.js":      "dist/index.js",
		"index.js":                   "dist/index.js",
		base + "/link/dist/index.js": "dist/index.js",
		base + "/outside.js":         "",
		"../../outside.js":           "",
	} {
		if got := inside(repository(), file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
