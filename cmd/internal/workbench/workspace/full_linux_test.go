package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// TestAFullDiskLeavesTheOldContentInPlace fills a small file system in a process with a private mount namespace.
func TestAFullDiskLeavesTheOldContentInPlace(t *testing.T) {
	b := newBench(t, Options{})
	cmd := b.process("full", 0)
	cmd.Stderr = nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 { // an ordinary user may mount in a user namespace, if these are allowed
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "may not mount") {
		t.Logf("not tried here: %v %s", err, out)
		return
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// fullRole fills the disk, fails to change two files, frees space, changes them, fails to undo, and then undoes.
func fullRole(top string, _ int) int {
	proj := filepath.Join(top, "proj")
	private := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err := errors.Join(private, syscall.Mount("candor", proj, "tmpfs", 0, "size=512k")); err != nil {
		fmt.Println("may not mount:", err)
		return 1
	}
	f, state := there(top, 0)
	old, filling := bytes.Repeat([]byte("o"), 64<<10), filepath.Join(proj, "filling")
	for _, name := range []string{"a", "b"} {
		check(os.WriteFile(filepath.Join(proj, name), old, 0o644))
	}
	stage := func(id string) *Staged {
		var set []Change
		for _, name := range []string{"a", "b"} {
			now, err := f.Read(Path{name})
			check(err)
			set = append(set, Change{Path: Path{name}, Before: &now, After: bytes.Repeat([]byte(id), 64<<10)})
		}
		s, err := f.Stage(state, id, set, nil)
		check(err)
		return s
	}
	hold := func(s string) { // checks that exactly the expected names and contents exist
		names, err := os.ReadDir(proj)
		check(err)
		a, errA := os.ReadFile(filepath.Join(proj, "a"))
		b, errB := os.ReadFile(filepath.Join(proj, "b"))
		check(errors.Join(errA, errB))
		if string(a[:1]) != s || !bytes.Equal(a, b) || len(a) != 64<<10 || len(names) > 3 {
			panic(fmt.Sprint("not as it was: ", names, len(a), len(b)))
		}
	}
	// One of the two new files still fits, but not both.
	check(os.WriteFile(filling, make([]byte, 300<<10), 0o644))
	s := stage("1")
	err := s.Commit(context.Background())
	if candor.CodeOf(err) != kaiza.FileWriteFailed || !errors.Is(err, syscall.ENOSPC) {
		panic(fmt.Sprint("on a full disk: ", err))
	}
	fmt.Println(err)
	check(s.Done())
	hold("o")
	check(os.Remove(filling))
	s = stage("2")
	check(s.Commit(context.Background()))
	hold("2")
	check(os.WriteFile(filling, make([]byte, 380<<10), 0o644))
	if err := s.Undo(); candor.CodeOf(err) != kaiza.FileWriteFailed {
		panic(fmt.Sprint("undone on a full disk: ", err))
	}
	hold("2")
	check(os.Remove(filling))
	check(s.Undo())
	hold("o")
	check(s.Done())
	return 0
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
