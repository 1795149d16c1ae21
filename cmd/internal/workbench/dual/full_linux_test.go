package dual_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// onSmallDisk has the servers of p work on a disk of 2 MiB, which only they see. The trail is elsewhere: a full disk under it refuses
// every call, which is not what is tested here.
func (p *place) onSmallDisk() {
	p.t.Helper()
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.flags = append(p.flags, "--ledger", filepath.Join(filepath.Dir(p.state), "trail"))
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 { // an ordinary user may mount in a user namespace, where those are allowed
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	const mounting = `mount --make-rprivate / && mount -t tmpfs -o size=2m,mode=700 candor "$0" && exec "$@"`
	wrap := func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", mounting, p.state}, cmd.Args...)
		cmd.Path, cmd.SysProcAttr = "/bin/sh", attr
	}
	try := exec.Command("/bin/true")
	wrap(try)
	if out, err := try.CombinedOutput(); err != nil {
		p.t.Skipf("no namespace to mount a small disk in: %v: %s", err, out)
	}
	p.wrap = wrap
}

// TestD15AFullDiskIsDBFull: what does not fit onto the disk is refused, nothing of it is kept, reading goes on, and so does writing once
// there is space.
func TestD15AFullDiskIsDBFull(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.onSmallDisk()
	s := p.start()
	id := s.task(nil)
	s.think(id, nil).fine()
	disk := fmt.Sprintf("/proc/%d/root%s", s.cmd.Process.Pid, p.state)
	filling := filepath.Join(disk, "filling")
	f, err := os.Create(filling)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(f, zeros{}) // until the disk is full
	if err := f.Close(); err != nil {
		t.Log(err)
	}
	stored := int64(1)
	var full answer
	for range 100 { // what the database has in reserve is used first
		if full = s.think(id, args{"content": strings.Repeat("x", 16<<10)}); full.code() != "" {
			break
		}
		stored++
	}
	s.retryable(full.isA("DB_FULL"))
	s.retryable(s.call("task_update", args{"id": id, "status": "GATHER", "description": strings.Repeat("x", 16<<10)}).isA("DB_FULL"))
	if got := s.call("task_get", args{"id": id}).fine(); got.data("status") != "INIT" {
		t.Errorf("%s", got.value().Raw())
	}
	if err := os.Remove(filling); err != nil {
		t.Fatal(err)
	}
	s.call("task_update", args{"id": id, "status": "GATHER"}).fine()
	s.think(id, nil).fine()
	if a := s.valid(true, args{}); a.number("record_count") != stored+1 {
		t.Errorf("%d records, %d were stored", a.number("record_count"), stored+1)
	}
}

// zeros is a reader without an end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
