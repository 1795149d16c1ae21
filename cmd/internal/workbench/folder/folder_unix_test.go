//go:build unix

package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]error{
		"a/b": nil, ".": nil, "./a//b/": nil, "a..b": nil, "...": nil, "ünï": nil,
		"..": ErrEscape, "a/../b": ErrEscape, "/a": ErrEscape, "a\x00": ErrEscape, `a\b`: ErrEscape, "c:x": ErrEscape,
		"": ErrMalformed, "a\xff": ErrMalformed, "a\nb": ErrMalformed, strings.Repeat("x", 256): ErrMalformed, strings.Repeat("x/", 200) + "x": ErrMalformed,
	} {
		if _, err := Parse(name); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%q: got %v, want %v", name, err, want)
		}
	}
}

// open returns a directory with a file d/f, and the path of a directory outside that has the same file with other
// content.
func open(t *testing.T) (f *Folder, root, outside string) {
	t.Helper()
	dir := t.TempDir()
	root, outside = filepath.Join(dir, "root"), filepath.Join(dir, "outside")
	for path, content := range map[string]string{root: "mine", outside: "secret"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(path, "d"), 0o755), os.WriteFile(filepath.Join(path, "d/f"), []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { testHookSeen = func(string) {}; _ = f.Close() })
	return f, root, outside
}

// TestSwapBetweenCheckAndUse replaces a directory and a file by links to the outside after they were checked.
func TestSwapBetweenCheckAndUse(t *testing.T) {
	for _, victim := range []string{"d", "d/f"} {
		f, root, outside := open(t)
		swap := func(string) {
			path := filepath.Join(root, victim)
			if err := errors.Join(os.Rename(path, path+".old"), os.Symlink(filepath.Join(outside, victim), path)); err != nil {
				t.Error(err)
			}
			testHookSeen = func(string) {}
		}
		for name, use := range map[string]func() error{
			"OpenFile":    func() error { _, _, err := f.OpenFile("d/f"); return err },
			"OpenLiteral": func() error { _, _, err := f.OpenLiteral("d/f"); return err },
		} {
			testHookSeen = swap
			if err := use(); err == nil {
				t.Errorf("%s read through %s, which was replaced by a link to the outside", name, victim)
			}
			path := filepath.Join(root, victim)
			if err := errors.Join(os.Remove(path), os.Rename(path+".old", path)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSwapForLinkInside replaces a directory by a link to another directory below the root, which os.Root would follow
// and a policy must not.
func TestSwapForLinkInside(t *testing.T) {
	f, root, _ := open(t)
	if err := os.MkdirAll(filepath.Join(root, "private"), 0o755); err != nil {
		t.Fatal(err)
	}
	testHookSeen = func(string) {
		_ = os.Rename(filepath.Join(root, "d"), filepath.Join(root, "old"))
		_ = os.Symlink("private", filepath.Join(root, "d"))
	}
	if dir, _, err := f.Parent("d/new"); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, %v", dir, err)
	}
}

func TestSpecialFilesAreNotOpened(t *testing.T) {
	f, root, _ := open(t)
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644); err != nil {
		t.Skip(err)
	}
	if _, _, err := f.OpenFile("fifo"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("FIFO: %v", err)
	}
	// A file that becomes a FIFO between the check and the opening must not block either.
	testHookSeen = func(string) {
		_ = os.Rename(filepath.Join(root, "fifo"), filepath.Join(root, "d/f"))
	}
	if _, _, err := f.OpenFile("d/f"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("swapped FIFO: %v", err)
	}
	if _, err := f.Stat("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}
