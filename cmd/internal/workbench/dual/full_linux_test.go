package dual_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/smalldisk"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// onSmallDisk makes the servers of p use a disk of 2 MiB that only they see. The trail is elsewhere, because a full
// disk for the trail refuses every call.
func (p *place) onSmallDisk() {
	p.t.Helper()
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.flags = append(p.flags, "--ledger", filepath.Join(filepath.Dir(p.state), "trail"))
	p.wrap = smalldisk.Mount(p.t, p.state, 2)
}

// TestD15AFullDiskIsDBFull checks that a change that does not fit on the disk is refused and undone, that reading
// continues, and that writing works again once there is space.
func TestD15AFullDiskIsDBFull(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.onSmallDisk()
	s := p.start()
	id := s.task(nil)
	s.think(id, nil).fine()
	free := smalldisk.Fill(t, smalldisk.Seen(s.Cmd, p.state))
	stored := int64(1)
	var full answer
	for range 100 { // space that the database has reserved is used first
		if full = s.think(id, args{"content": strings.Repeat("x", 16<<10)}); full.Code() != "" {
			break
		}
		stored++
	}
	s.retryable(full.isA("DB_FULL"))
	s.retryable(s.call("task_update", args{"id": id, "status": "GATHER", "description": strings.Repeat("x", 16<<10)}).isA("DB_FULL"))
	if got := s.call("task_get", args{"id": id}).fine(); got.data("status") != "INIT" {
		t.Errorf("%s", got.value().Raw())
	}
	free()
	s.call("task_update", args{"id": id, "status": "GATHER"}).fine()
	s.think(id, nil).fine()
	if a := s.valid(true, args{}); a.number("record_count") != stored+1 {
		t.Errorf("%d records, %d were stored", a.number("record_count"), stored+1)
	}
}

// TestD15LockedReadersAreDBBusy takes the locks that readers need in the -shm file, as another process can.
func TestD15LockedReadersAreDBBusy(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--db-wait", "200ms")
	id := s.task(nil)
	shm, err := os.OpenFile(filepath.Join(p.state, "dual.db-shm"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer shm.Close()               //nolint:errcheck // nothing was written
	const firstMark, marks = 123, 5 // WAL_READ_LOCK(0) and those after it
	set := func(kind int16) {
		if err := syscall.FcntlFlock(shm.Fd(), syscall.F_SETLKW, &syscall.Flock_t{Type: kind, Start: firstMark, Len: marks}); err != nil {
			t.Fatal(err)
		}
	}
	set(syscall.F_WRLCK)
	for tool, in := range map[string]args{"task_get": {"id": id}, "server_health": {}, "audit_verify_chain": {}, "router_score": {}, "reputation_get": {"agent_id": "a"}, "task_create": {"title": "x"}} {
		s.retryable(s.call(tool, in).isA("DB_BUSY"))
	}
	set(syscall.F_UNLCK)
	wait.Until(t, "the readers are free again", func() bool { return s.call("task_get", args{"id": id}).Code() == "" })
}
