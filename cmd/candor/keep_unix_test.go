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
