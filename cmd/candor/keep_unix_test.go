//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// TestKeepFlagsTakeEffect runs one session without flags and one with flags, which apply to the segments of the first.
func TestKeepFlagsTakeEffect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags []string
		gone  bool // the log of the first chain must be removed
	}{
		"age":                 {flags: []string{"--ledger-keep-age", "1ms"}, gone: true},
		"age not reached":     {flags: []string{"--ledger-keep-age", "30d"}},
		"bytes":               {flags: []string{"--ledger-keep-bytes", "1kB"}, gone: true},
		"bytes not reached":   {flags: []string{"--ledger-keep-bytes", "1GiB"}},
		"compress and remove": {flags: []string{"--ledger-compress", "--ledger-keep-bytes", "1kB"}, gone: true},
		"no flags":            {},
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

// TestCompressFlagTakesEffect lets wrap compress a chain of several segments.
func TestCompressFlagTakesEffect(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--ledger-compress"}} {
		home := t.TempDir()
		l, err := ledger.Open(filepath.Join(home, "trail"), ledger.Options{MaxSegmentBytes: 4 << 10})
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			if _, err := l.Append(t.Context(), ledger.EntryOf(candor.New(candor.CodeTimeout, ""))); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		first := chainsIn(t, home)[0]
		plain := filepath.Join(first, "audit-log.000001.jsonl")
		p := launchIn(t, home, append(append([]string{"wrap"}, flags...), "--", "badserver")...)
		p.fails("1", "NOT_FOUND")
		if flags != nil {
			awaitFiles(t, first, func() bool { return exists(plain+".gz") && !exists(plain) })
		}
		p.signal(syscall.SIGTERM)
		p.ends()
		if exists(plain+".gz") != (flags != nil) {
			t.Errorf("with %v the segment is compressed: %v", flags, flags == nil)
		}
		if code, out, complaints := verify(home); code != term.ExitOK {
			t.Errorf("exit code %d: %s%s", code, out, complaints)
		}
	}
}

// TestKilledPruneLosesNothingKept kills candor ledger prune at different moments. The kept entries must stay, and the ledger must verify.
func TestKilledPruneLosesNothingKept(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	trail := filepath.Join(home, "trail")
	old := time.Now().Add(-2 * time.Hour)
	for round := range 8 {
		for range 3 {
			writeEntries(t, trail, "old")
		}
		kept := writeEntries(t, trail, "kept")
		for _, chain := range chainsIn(t, home) {
			if !strings.Contains(chain, "/kept-") {
				for _, name := range []string{"audit-log.jsonl", "audit-log.000001.jsonl", "checkpoints"} {
					if err := os.Chtimes(filepath.Join(chain, name), old, old); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				}
			}
		}
		p := launchIn(t, home, "ledger", "prune", trail, "--keep-age", "1h", "--yes")
		time.Sleep(time.Duration(round*8) * time.Millisecond)
		p.signal(syscall.SIGKILL)
		_ = p.cmd.Wait()
		if code, out, complaints := verify(home); code != term.ExitOK {
			t.Fatalf("round %d: exit code %d: %s%s", round, code, out, complaints)
		}
		if log, err := os.ReadFile(filepath.Join(trail, kept, "audit-log.jsonl")); err != nil || strings.Count(string(log), `"kind":"failure"`) == 0 {
			t.Fatalf("round %d: kept entries are lost: %v", round, err)
		}
	}
	code, out, complaints := watched("", map[string]string{"HOME": home}, "ledger", "prune", trail, "--keep-age", "1h", "--yes")
	if left, _ := filepath.Glob(filepath.Join(trail, "old-*", "audit-log*")); code != term.ExitOK || len(left) > 0 {
		t.Errorf("exit code %d, %s%s; left %v", code, out, complaints, left)
	}
	if code, out, complaints := verify(home); code != term.ExitOK {
		t.Errorf("exit code %d: %s%s", code, out, complaints)
	}
}

// writeEntries writes a chain of two segments and returns its name.
func writeEntries(t *testing.T, dir, instance string) (chain string) {
	t.Helper()
	l, err := ledger.Open(dir, ledger.Options{Instance: instance, MaxSegmentBytes: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for l.Stats().Segments < 2 {
		r, err := l.Append(t.Context(), ledger.EntryOf(candor.New(candor.CodeTimeout, "")))
		if err != nil {
			t.Fatal(err)
		}
		chain = r.Chain
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return chain
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// awaitFiles waits for changes made in the background.
func awaitFiles(t *testing.T, chain string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			names, _ := filepath.Glob(filepath.Join(chain, "*"))
			t.Fatalf("it does not come: %v", names)
		}
	}
}
