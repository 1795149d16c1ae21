//go:build unix

package workspace

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

func TestAFileIsReadWhole(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a/b.txt", "hello")
	b.symlink("b.txt", "a/near")
	b.symlink("a", "folder")
	for _, name := range []string{"a/b.txt", "a/near", "folder/b.txt", b.in + "/a/b.txt"} {
		file := b.read(name)
		if string(file.Content) != "hello" || file.Hash != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" || file.Size != 5 || file.Mode.Perm() != 0o644 {
			t.Errorf("%s: %+v", name, file)
		}
	}
}

func TestReadRefusesOutsideAndSpecialFiles(t *testing.T) {
	b := newBench(t, Options{MaxFile: 100})
	out := filepath.Join(b.out, "secret.txt")
	b.put("file", "x")
	b.put("big", strings.Repeat("x", 101))
	b.put("fits", strings.Repeat("x", 100))
	b.put("blind", "x")
	b.must(os.Chmod(filepath.Join(b.in, "blind"), 0o200))
	b.must(os.Mkdir(filepath.Join(b.in, "folder"), 0o755))
	b.symlink(out, "absolute")
	b.symlink("../outside/secret.txt", "relative")
	b.symlink("../outside", "door")
	b.symlink("../../outside/secret.txt", "folder/deep")
	b.symlink("relative", "chain")
	b.symlink("loop", "loop")
	b.symlink("nothing", "dangling")
	b.symlink("../none", "dangling-out")
	b.symlink("/dev/zero", "zero")
	b.must(os.Link(out, filepath.Join(b.in, "hard")))
	for name, want := range map[string]candor.Code{
		"none": kaiza.FileNotFound, "dangling": kaiza.FileNotFound,
		"none/x": kaiza.PathNotFound, "file/x": kaiza.PathNotFound, "folder/none/x": kaiza.PathNotFound,
		"folder": kaiza.FileReadFailed, ".": kaiza.FileReadFailed, "big": kaiza.FileReadFailed,
		"loop": kaiza.FileReadFailed, "blind": kaiza.InsufficientPermissions,
		"absolute": kaiza.OutsideWorkspace, "relative": kaiza.OutsideWorkspace, "chain": kaiza.OutsideWorkspace,
		"door/secret.txt": kaiza.OutsideWorkspace, "folder/deep": kaiza.OutsideWorkspace,
		"dangling-out": kaiza.OutsideWorkspace, "zero": kaiza.OutsideWorkspace, "hard": kaiza.OutsideWorkspace,
	} {
		file, err := b.folder.Read(b.path(name))
		if candor.CodeOf(err) != want || file.Content != nil {
			t.Errorf("%s: %v, want %v", name, err, want)
			continue
		}
		b.refuses(err, want)
	}
	b.read("fits")
}

func TestSpecialFilesDoNotBlock(t *testing.T) {
	b := newBench(t, Options{})
	b.must(syscall.Mkfifo(filepath.Join(b.in, "fifo"), 0o644))
	special := []string{"fifo"}
	if l, err := net.Listen("unix", filepath.Join(b.in, "socket")); err == nil { // the name may be too long for a socket
		defer l.Close() //nolint:errcheck // a test
		special = append(special, "socket")
	}
	if syscall.Mknod(filepath.Join(b.in, "zero"), syscall.S_IFCHR|0o644, 1<<8|5) == nil { // requires root, and support by the system
		special = append(special, "zero")
	}
	for _, name := range special {
		_, err := b.folder.Read(b.path(name))
		b.refuses(err, kaiza.FileReadFailed)
		_, err = b.folder.Stage(b.state, "over-"+name, []Change{{Path: b.path(name), Before: &File{Hash: Hash(nil)}}}, nil)
		b.refuses(err, kaiza.FileWriteFailed)
	}
	b.clean()
}

// TestFileReplacedAfterTheCheckIsNotRead replaces a file by a FIFO, a link to the outside or a folder
// between Stat and open. The checks of the open file must detect it.
func TestFileReplacedAfterTheCheckIsNotRead(t *testing.T) {
	b := newBench(t, Options{})
	target := filepath.Join(b.in, "a")
	for want, swap := range map[candor.Code]func() error{
		kaiza.FileReadFailed:   func() error { return syscall.Mkfifo(target, 0o644) },
		kaiza.OutsideWorkspace: func() error { return os.Symlink(filepath.Join(b.out, "secret.txt"), target) },
		kaiza.FileNotFound:     func() error { return nil },
	} {
		b.put("a", "x")
		b.folder.testHook = func(at string) {
			if at == "looked" {
				b.must(os.Remove(target))
				b.must(swap())
			}
		}
		_, err := b.folder.Read(b.path("a"))
		b.refuses(err, want)
		_ = os.Remove(target)
	}
	b.put("a", "x")
	b.folder.testHook = func(at string) {
		if at == "looked" {
			b.must(os.Remove(target))
			b.must(os.Link(filepath.Join(b.out, "secret.txt"), target))
		}
	}
	_, err := b.folder.Read(b.path("a"))
	b.refuses(err, kaiza.OutsideWorkspace)
}

// TestRemovedHardLinkIsDetected replaces the file by a hard link to an outside file just before it is opened, and
// removes the link just after: the open file then has one link, which is outside.
func TestRemovedHardLinkIsDetected(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("a.txt", "inside")
	target := filepath.Join(b.in, "a.txt")
	b.folder.testHook = func(at string) {
		_ = os.Remove(target)
		if at == "looked" {
			b.must(os.Link(filepath.Join(b.out, "secret.txt"), target))
		} else {
			b.must(os.WriteFile(target, []byte("inside"), 0o600))
		}
	}
	file, err := b.folder.Read(b.path("a.txt"))
	if err == nil {
		t.Errorf("it read %q", file.Content)
	}
}
