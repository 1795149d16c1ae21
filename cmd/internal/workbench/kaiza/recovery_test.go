package kaiza_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// checks writes a policy with one check, a shell command, and returns its name.
func (p *env) checks(shell string) string {
	quoted, _ := json.Marshal(shell)
	return p.policyFile("builtin: []\npreflight:\n  - name: check\n    run: [sh, -c, " + string(quoted) + "]\n")
}

// atRest checks that no journal exists and that the workspace has this number of files; -1 means any number.
func (p *env) atRest(files int) {
	p.t.Helper()
	journals, err := filepath.Glob(filepath.Join(p.state, "workspaces", "*", "changes", "*"))
	if err != nil || len(journals) > 0 {
		p.t.Errorf("journals are left: %v %v", journals, err)
	}
	found := []string{}
	err = filepath.WalkDir(p.work, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(name, p.file("docs")) {
			found = append(found, name)
		}
		return err
	})
	if err != nil || files >= 0 && len(found) != files {
		p.t.Errorf("the workspace holds %v: %v", found, err)
	}
}

// eventually waits until a condition holds.
func (p *env) eventually(what string, so func() bool) {
	p.t.Helper()
	wait.Until(p.t, what, so)
}

// completions returns the complete entries of file changes.
func (p *env) completions() (ends []ledger.Record) {
	p.t.Helper()
	for _, e := range p.entries() {
		if e.Kind == ledger.KindComplete && (e.Tool == "write_file" || e.Tool == "apply_patch") {
			ends = append(ends, e)
		}
	}
	return ends
}

// TestStateOfALaterVersionIsRefused checks that the server refuses to start on a state of a later version.
func TestStateOfALaterVersionIsRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.start().End()
	for _, version := range []int{2, 9000} {
		text := fmt.Sprintf(`{"version":%d}`, version)
		if err := os.WriteFile(filepath.Join(p.state, "version.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := p.launch()
		if code := s.End(); code != 2 || !strings.Contains(s.Stderr.String(), fmt.Sprintf("version %d", version)) {
			t.Errorf("it ended with %d and said %s", code, &s.Stderr)
		}
		if data, _ := os.ReadFile(filepath.Join(p.state, "version.json")); string(data) != text {
			t.Errorf("it changed the version to %s", data)
		}
	}
}
