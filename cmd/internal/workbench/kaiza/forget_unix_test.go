//go:build unix

package kaiza_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestATrailRemovedOnPurposeCanBeForgotten starts a server whose trail was removed: it refuses calls with a hint, and
// works again after the hint is followed.
func TestATrailRemovedOnPurposeCanBeForgotten(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	trail := filepath.Join(filepath.Dir(p.root), "trail")
	for range 3 {
		s := p.start("--ledger", trail)
		s.begin("WINDSURF")
		s.stop()
	}
	if err := os.RemoveAll(trail); err != nil {
		t.Fatal(err)
	}
	s := p.start("--ledger", trail)
	a := s.call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"})
	a.is("SELF_AUDIT_FAILURE")
	if text := string(a.m.Bytes()); !strings.Contains(text, "removed on purpose: candor ledger forget") || !strings.Contains(text, "and 2 more") {
		t.Errorf("the answer does not say what to do: %s", text)
	}
	s.stop()
	if said := s.Stderr.String(); !strings.Contains(said, "/checkpoints/trail-") || !strings.Contains(said, "candor ledger forget "+trail) {
		t.Errorf("the log does not name the file: %s", said)
	}
	if out, err := exec.CommandContext(t.Context(), binary, "ledger", "forget", trail, "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.start("--ledger", trail).begin("WINDSURF")
}
