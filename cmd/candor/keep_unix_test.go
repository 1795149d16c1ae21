//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// TestKeepFlagsTakeEffect runs one session without flags and one with flags, which apply to the segments of the first.
func TestKeepFlagsTakeEffect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags []string
		gone  bool // the log of the first chain must be removed
	}{
		"age":               {flags: []string{"--ledger-keep-age", "1ms"}, gone: true},
		"bytes":             {flags: []string{"--ledger-keep-bytes", "1kB"}, gone: true},
		"bytes not reached": {flags: []string{"--ledger-keep-bytes", "1GiB"}},
		"no flags":          {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			first := session(t, home, syscall.SIGTERM)
			p := launchIn(t, home, append(append([]string{"wrap"}, c.flags...), "--", "badserver")...)
			p.fails("1", "NOT_FOUND")
			log := filepath.Join(first, "audit-log.jsonl")
			awaitFiles(t, first, func() bool { return !c.gone || !exists(log) })
			if !c.gone {
				time.Sleep(100 * time.Millisecond) // time for a removal that must not happen
			}
			p.signal(syscall.SIGTERM)
			p.ends()
			if exists(log) == c.gone {
				t.Errorf("the log of the first chain is there: %v", !c.gone)
			}
			code, out, complaints := verify(home)
			if code != term.ExitOK || !strings.Contains(out, "OK: ") {
				t.Errorf("exit code %d: %s%s", code, out, complaints)
			}
			if strings.Contains(out, "pruned before") != c.gone {
				t.Errorf("verify says of what was removed: %s", out)
			}
		})
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// awaitFiles waits for changes made in the background.
func awaitFiles(t *testing.T, chain string, done func() bool) {
	t.Helper()
	wait.Until(t, "the files of "+chain, done)
}
