//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestKilledWrapReleasesReservedSpace checks that the next writer frees the space that the killed one had reserved.
func TestKilledWrapReleasesReservedSpace(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := launchIn(t, home, "wrap", "--", "badserver")
	p.fails("1", "NOT_FOUND")
	chain := p.chain()
	p.signal(syscall.SIGKILL)
	_ = p.cmd.Wait()
	if held := allocated(t, chain); held > 1<<20 {
		t.Errorf("the killed session holds %d bytes before the next one starts", held)
	}
	next := launchIn(t, home, "wrap", "--", "badserver")
	next.fails("1", "NOT_FOUND")
	if held := allocated(t, chain); held > 32<<10 {
		t.Errorf("the killed session holds %d bytes after the next one has started", held)
	}
	next.signal(syscall.SIGTERM)
	_ = next.cmd.Wait()
	if held := allocated(t, p.trail); held > 128<<10 {
		t.Errorf("the whole ledger holds %d bytes for two failures", held)
	}
}

// allocated returns the disk space of a folder in bytes.
func allocated(t *testing.T, dir string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Sys().(*syscall.Stat_t).Blocks * 512 //nolint:errcheck,forcetypeassert // on unix
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestForeignFolderIsNotAChain checks that a folder in the ledger's folder without the name of a chain is never changed.
func TestForeignFolderIsNotAChain(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i := range 2 {
		p := launchIn(t, home, "wrap", "--", "badserver")
		p.fails("1", "NOT_FOUND")
		p.signal(syscall.SIGTERM)
		_ = p.ends()
		notes := filepath.Join(p.trail, "notes")
		if i == 0 {
			if err := os.Mkdir(notes, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if left, err := os.ReadDir(notes); err != nil || len(left) > 0 {
			t.Errorf("the folder holds %v, %v", left, err)
		}
		if err := os.Remove(notes); err != nil {
			t.Fatal(err)
		}
		if code, out, _ := watched("", nil, "ledger", "verify", p.trail); code != term.ExitOK {
			t.Errorf("exit code %d: %s", code, out)
		}
	}
}
