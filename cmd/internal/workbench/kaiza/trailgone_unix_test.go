//go:build unix

package kaiza_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestR19WriteIsRefusedOnceTheTrailIsGone removes the trail of a running server in several ways. The next write is
// refused without an effect, and the one after it is recorded again.
func TestR19WriteIsRefusedOnceTheTrailIsGone(t *testing.T) {
	log := func(chain string) string { return filepath.Join(chain, "audit-log.jsonl") }
	for name, lose := range map[string]func(trail, chain string) error{
		"log unlinked":   func(_, chain string) error { return os.Remove(log(chain)) },
		"log moved":      func(_, chain string) error { return os.Rename(log(chain), log(chain)+".1") },
		"log truncated":  func(_, chain string) error { return os.Truncate(log(chain), 0) },
		"chain removed":  func(_, chain string) error { return os.RemoveAll(chain) },
		"folder removed": func(trail, _ string) error { return os.RemoveAll(trail) },
		"folder moved":   func(trail, _ string) error { return os.Rename(trail, trail+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			plan := p.approved("src/**")
			trail := filepath.Join(filepath.Dir(p.root), "trail")
			c := p.start("--ledger", trail)
			c.begin("WINDSURF")
			write := func(name string) answer {
				return c.call("write_file", args{"path": name, "content": "x", "plan_hash": plan})
			}
			write("src/before.txt").fine()
			chains, err := filepath.Glob(filepath.Join(trail, "kaiza-*"))
			if err != nil || len(chains) != 1 {
				t.Fatalf("chains %v, %v", chains, err)
			}
			p.eventually("the writer has nothing left to do", func() bool { // otherwise its checkpoint may notice first
				data, err := os.ReadFile(log(chains[0]))
				return err == nil && bytes.Contains(data[bytes.LastIndexByte(data[:len(data)-1], '\n')+1:], []byte(`"kind":"checkpoint"`))
			})
			if err := lose(trail, chains[0]); err != nil {
				t.Fatal(err)
			}
			write("src/lost.txt").is("AUDIT_LOG_FAILED")
			if _, there := p.read("src/lost.txt"); there {
				t.Error("the write was refused and has happened")
			}
			write("src/after.txt").fine()
			if _, there := p.read("src/after.txt"); !there {
				t.Error("the write was acknowledged and has not happened")
			}
		})
	}
}
