//go:build linux

package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a disk of the given size in KiB.
func smallDisk(t *testing.T, kib int) (path string) {
	t.Helper()
	path = t.TempDir()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	if err := syscall.Mount("candor-test", path, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=0700", kib)); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return path
}

// fillDisk uses all free space of a disk. The returned function frees it.
func fillDisk(t *testing.T, disk string) (free func()) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for page := make([]byte, 4096); err == nil; {
		_, err = file.Write(page)
	}
	return func() {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// reserve uses half a MiB of a disk. The returned function frees it.
func reserve(t *testing.T, disk string) (free func()) {
	t.Helper()
	path := filepath.Join(disk, "reserve")
	if err := os.WriteFile(path, make([]byte, 512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// full requires the error for a full disk, which a client may retry.
func (r reply) full() {
	r.t.Helper()
	r.fails(4047, "candor/DISK_FULL")
	retryable, _ := r.m.Error().Path("data", "retryable").Bool()
	after, _ := r.m.Error().Path("data", "retryAfterMs").Int64()
	if details, _ := r.m.Error().Path("data", "details").Str(); !retryable || after <= 0 || details != "nothing was changed" {
		r.t.Errorf("a full disk: %s", r.m.Bytes())
	}
}

func TestFilesystemOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 512)
	h := start(t, setup{flags: []string{"--domain", "filesystem"}, env: []string{"MCP_FS_ROOT=" + disk, "MCP_FS_WRITE_GLOBS=**", "MCP_MAX_LINE_LEN=4000000"}})
	write := func(path, content string) reply {
		return h.call("fs/write", fmt.Sprintf(`{"path":%q,"content":%q}`, path, content))
	}
	write("old", "old content").result()
	h.call("fs/mkdir", `{"path":"folder"}`).result()
	before := tree(t, disk)
	for _, path := range []string{"old", "new", "folder/new"} {
		write(path, strings.Repeat("x", 900_000)).full()
	}
	free := fillDisk(t, disk)
	for _, path := range []string{"old", "new"} {
		write(path, "more").full()
	}
	if after := tree(t, disk); after != "filler "+before {
		t.Errorf("files before: %s, after: %s", before, after)
	}
	if content, err := os.ReadFile(filepath.Join(disk, "old")); string(content) != "old content" {
		t.Errorf("the old file: %q, %v", content, err)
	}
	h.call("fs/read", `{"path":"old"}`).result()
	h.call("fs/delete", `{"path":"folder"}`).result()
	free()
	write("old", "new content").result()
}

func TestGraphOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 1024)
	env := []string{"MCP_KG_FILE=" + filepath.Join(disk, "kg", "triples.db")}
	started := func() *harness { return start(t, setup{flags: []string{"--domain", "kg"}, env: env}) }
	free := fillDisk(t, disk)
	h := started()
	h.call("kg/add", triple("a", "b", "c")).full() // the database cannot be created
	free()
	free = reserve(t, disk)
	added, object := 0, strings.Repeat("x", 3000)
	for ; ; added++ {
		r := h.call("kg/add", triple(fmt.Sprint("s", added), "p", object))
		if r.number() != 0 {
			r.full()
			break
		}
		if added == 1000 {
			t.Fatal("the disk does not become full")
		}
	}
	kept := func(h *harness) {
		t.Helper()
		if n, _ := h.call("kg/stats", `{}`).result().Path("triples").Int64(); n != int64(added) {
			t.Errorf("%d triples, %d were added", n, added)
		}
	}
	kept(h)
	fillDisk(t, disk)
	h.call("kg/add", triple("one", "more", object)).full()
	kept(h)
	h.kill()
	h = started()
	kept(h)
	h.call("kg/add", triple("one", "more", object)).full()
	free()
	h.call("kg/delete", triple("s0", "p", object)).result()
	added--
	kept(h)
	if h.end() != 0 {
		t.Error(&h.said)
	}
	kept(started())
}

// tree returns all paths below a directory.
func tree(t *testing.T, root string) (all string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, _ error) error {
		if path != root {
			all += strings.TrimPrefix(path, root+"/") + " "
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
