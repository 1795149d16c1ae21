//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// TestLedgerCopyFollowsUntilInterrupted mirrors a ledger while a chain is added to it.
func TestLedgerCopyFollowsUntilInterrupted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	trail := filepath.Join(home, "trail")
	writeEntries(t, trail, "first")
	p := launchIn(t, home, "ledger", "copy", trail, "file:mirror", "--node", "n", "--follow", "--json")
	if line := p.hear(); !strings.Contains(line, `"ok":true,"chains":1,`) {
		t.Fatalf("it printed %s", line)
	}
	mirror := filestore.Open(filepath.Join(home, "mirror"))
	defer mirror.Close() //nolint:errcheck // only read
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	followed := mirror.Follow(ctx)
	chain := fleet.Chain{Node: "n", Name: writeEntries(t, trail, "second")}
	_, lines := storetest.ReadLedger(t, trail, "n")
	for stored, err := range followed {
		if err != nil {
			t.Fatal(err)
		}
		if stored.Chain == chain && bytes.Equal(stored.Line, lines[len(lines)-1]) {
			break
		}
	}
	p.signal(syscall.SIGINT)
	if code := p.ends(); code != 0 {
		t.Errorf("exit code %d, want 0; it said %s", code, p.said)
	}
	checkClosed(t, filepath.Join(home, "mirror", "n"))
}

// TestKilledLedgerCopyContinues kills a copy again and again. In the end the copy is whole.
func TestKilledLedgerCopyContinues(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	from, to := filestore.Open(filepath.Join(home, "from")), filepath.Join(home, "to")
	defer from.Close() //nolint:errcheck // the test is over
	chain, head := fleet.Chain{Node: "n", Name: "c"}, fleet.Head{}
	for range 20 {
		lines := storetest.MakeLines(chain, head, 500, 500)
		if err := from.Append(t.Context(), chain, head, lines); err != nil {
			t.Fatal(err)
		}
		head = storetest.HeadOf(t, lines[499])
	}
	for size := int64(0); size < 4<<20; size += 1 << 20 {
		p := launchIn(t, home, "ledger", "copy", "file:from", "file:to")
		for { // until it has copied some more
			if info, err := os.Stat(filepath.Join(to, "n/c/audit-log.jsonl")); err == nil && info.Size() > size {
				break
			}
		}
		p.signal(syscall.SIGKILL)
		_ = p.cmd.Wait()
	}
	p := launchIn(t, home, "ledger", "copy", "file:from", "file:to")
	if line := p.hear(); !strings.HasPrefix(line, "OK: 10000 entries in 1 chain, of which ") || strings.Contains(line, "which 10000 are") {
		t.Errorf("it printed %s, want some new entries", line)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(filepath.Join(home, "from/n/c/audit-log.jsonl"))
	if got, err := os.ReadFile(filepath.Join(to, "n/c/audit-log.jsonl")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes were copied, want %d equal ones (%v)", len(got), len(want), err)
	}
}
