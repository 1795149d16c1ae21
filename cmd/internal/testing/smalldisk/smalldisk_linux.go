package smalldisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Mount returns a function that changes a command so that a file system of the given size in MiB is mounted at dir before it runs. Only that
// command sees the mount; see [Seen]. The test is skipped where an ordinary user cannot mount.
func Mount(t testing.TB, dir string, mib int) (wrap func(*exec.Cmd)) {
	t.Helper()
	script := fmt.Sprintf(`mount --make-rprivate / && mount -t tmpfs -o size=%dm,mode=700 candor "$0" && exec "$@"`, mib)
	wrap = func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", script, dir, cmd.Path}, cmd.Args[1:]...)
		cmd.Path, cmd.SysProcAttr = "/bin/sh", ownNamespace()
	}
	try := exec.CommandContext(t.Context(), "/bin/true")
	wrap(try)
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("no namespace to mount a small disk in: %v: %s", err, out)
	}
	return wrap
}

// ownNamespace gives a process mounts of its own. An ordinary user may mount in a user namespace, where those are allowed.
func ownNamespace() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// Seen returns the path by which the test reaches a folder on the disk of a running command.
func Seen(cmd *exec.Cmd, dir string) string {
	return fmt.Sprintf("/proc/%d/root%s", cmd.Process.Pid, dir)
}

// Filling is the name of the file that [Fill] writes.
const Filling = "filling"

// Fill takes all the space of the disk that dir is on. free gives it back.
func Fill(t testing.TB, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, Filling)
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // the disk is full
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
