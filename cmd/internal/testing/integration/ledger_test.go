package integration_test

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/candortest"
)

// TestCheckLeavesTheUsersLedgerAlone checks a server that keeps a ledger in the state folder by default.
func TestCheckLeavesTheUsersLedgerAlone(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"default": false, "named by the caller": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), filepath.Join(t.TempDir(), "ledger")
			tr := candortest.StdioFunc(func() *exec.Cmd {
				cmd := asServer(t, "serve")
				cmd.Env = append(cmd.Env, "HOME="+home, "XDG_STATE_HOME=", "CANDOR_LEDGER=")
				if own {
					cmd.Env = append(cmd.Env, "CANDOR_LEDGER="+dir)
				}
				return cmd
			})
			findings, err := candortest.Check(t.Context(), tr, candortest.Options{Only: []string{"unknown-tool"}})
			if err != nil || len(findings) == 0 {
				t.Fatal(findings, err)
			}
			if files := filesIn(home); !own && len(files) > 0 {
				t.Errorf("the check has written %q", files)
			}
			if own && len(filesIn(dir)) == 0 {
				t.Error("the ledger that was asked for is empty")
			}
		})
	}
}

// filesIn returns the names of all files below a folder.
func filesIn(dir string) []string {
	var files []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	return files
}
