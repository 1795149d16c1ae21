package ledger_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// TestR4DiskFullAndBack fills a small file system in a separate process, frees the space again, and expects the
// ledger to continue without a restart.
func TestR4DiskFullAndBack(t *testing.T) {
	dir := t.TempDir()
	cmd := process(t, "full", dir)
	cmd.Args = append(cmd.Args, "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 { // unprivileged users may mount in a user namespace, where those are allowed
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM), strings.Contains(string(out), "may not mount"):
		t.Skipf("no namespace to mount a small file system in: %v", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// fullRole mounts a file system, fills and empties it, and checks the ledger. The mount is visible only in its
// namespace.
func fullRole(t *testing.T, dir string) {
	private := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err := errors.Join(private, syscall.Mount("candor", dir, "tmpfs", 0, "size=1m")); err != nil {
		t.Fatalf("may not mount: %v", err)
	}
	folder, filling := filepath.Join(dir, "ledger"), filepath.Join(dir, "filling")
	f := fullness{
		t: t, look: func() (verify.Report, error) { return verify.Dir(context.Background(), folder, verify.Options{}) },
		read: func() (*inventory, error) { return readFolder(os.DirFS(folder)) },
		fill: func() { fill(t, filling) }, empty: func() { must(t, os.Remove(filling)) },
	}
	f.endure(func(o ledger.Options) (*ledger.Ledger, error) { return ledger.Open(folder, o) })
}

// fill writes until the disk is full.
func fill(t *testing.T, name string) {
	f, err := os.Create(name)
	must(t, err)
	defer f.Close() //nolint:errcheck // the disk is meant to be full
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else {
			must(t, err)
		}
	}
}
