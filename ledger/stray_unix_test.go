//go:build unix

package ledger_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/verify"
)

// replaceWithPipe replaces a file by a named pipe, which blocks readers.
func replaceWithPipe(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyReportsPlantedFiles checks that files of the wrong type or content are reported as damage or skipped, and
// that none blocks or stops the verifier.
func TestVerifyReportsPlantedFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(t *testing.T, dir, chain string)
		want  verify.Kind // empty if the ledger is valid
	}{
		{"pipe for the key", func(t *testing.T, dir, _ string) { replaceWithPipe(t, filepath.Join(dir, "keys", "signer.pub")) }, verify.KindUnknownKey},
		{"text for the key", func(t *testing.T, dir, _ string) {
			if err := os.WriteFile(filepath.Join(dir, "keys", "signer.pub"), []byte("not a key\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, verify.KindUnknownKey},
		{"text beside old keys", func(t *testing.T, dir, _ string) {
			old := filepath.Join(dir, "keys", "old")
			if err := os.Mkdir(old, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(old, "readme"), []byte("old keys\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"pipe for the checkpoints", func(t *testing.T, dir, chain string) {
			replaceWithPipe(t, filepath.Join(dir, chain, format.CheckpointsFile))
		}, verify.KindBadSignature},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			l := mustOpen(t, dir, ledger.Options{})
			appendSome(t, l, 0, 5)
			mustClose(t, l)
			chain := ledger.ChainsOf(t, dir)[0]
			c.plant(t, dir, chain)
			r := verifyDir(t, dir)
			if c.want == "" {
				reportOK(t, r)
				return
			}
			if r.OK || r.Damage[0].Kind != c.want || r.Damage[0].Chain != chain {
				t.Errorf("found %v, want %s", r.Damage, c.want)
			}
		})
	}
}
