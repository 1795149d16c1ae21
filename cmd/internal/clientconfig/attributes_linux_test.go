package clientconfig

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// posixACL is an access control list: user::rw- user:1:r-- group::--- mask::r-- other::---.
var posixACL = []byte{2, 0, 0, 0,
	1, 0, 6, 0, 255, 255, 255, 255,
	2, 0, 4, 0, 1, 0, 0, 0,
	4, 0, 0, 0, 255, 255, 255, 255,
	16, 0, 4, 0, 255, 255, 255, 255,
	32, 0, 0, 0, 255, 255, 255, 255}

// TestInstallKeepsAttributes keeps the extended attributes and the access control list of a file, and takes none from its folder.
func TestInstallKeepsAttributes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, _ := faultFile(t, dir)
	set := func(name, attribute string, value []byte) {
		t.Helper()
		if err := unix.Setxattr(name, attribute, value, 0); err != nil {
			t.Skipf("the file system of %s does not keep %s: %v", name, attribute, err)
		}
	}
	set(f.Path, "user.comment", []byte("mine"))
	set(f.Path, accessList, posixACL)
	other := File{Client: f.Client, Path: filepath.Join(filepath.Dir(f.Path), "other.json")}
	writeFile(t, other.Path, []byte(faultInput), 0o640)
	set(filepath.Dir(f.Path), "system.posix_acl_default", posixACL)
	e := testEditor(dir)
	for _, run := range []func(*testing.T, *Editor, File) Result{install, uninstall} {
		run(t, e, f)
		checkMode(t, f.Path, 0o640)
		for attribute, want := range map[string]string{"user.comment": "mine", accessList: string(posixACL)} {
			if got := readAttribute(t, f.Path, attribute); got != want {
				t.Errorf("%s is %q, want %q", attribute, got, want)
			}
		}
		run(t, e, other)
		checkMode(t, other.Path, 0o640)
		if got := readAttribute(t, other.Path, accessList); got != "" {
			t.Errorf("the file has the access control list of its folder: %q", got)
		}
	}
}

func readAttribute(t *testing.T, name, attributeName string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	value, _ := attribute(f, attributeName) // missing is empty
	return string(value)
}
