package dual_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/smalldisk"
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
