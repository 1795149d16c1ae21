package kaiza_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/ledger"
)

// TestAKillInAnUndoLeavesTheChange kills the undo command when it has restored some of the files. The next start reverts
// the undo and records it, and the change can then be undone.
func TestAKillInAnUndoLeavesTheChange(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	before := p.snapshot()
	s := p.executor()
	var patch strings.Builder
	const files = 60
	for i := range files {
		fmt.Fprintf(&patch, "--- /dev/null\n+++ b/src/made/%d.txt\n@@ -0,0 +1 @@\n+%d\n", i, i)
	}
	s.call("apply_patch", args{"patch": patch.String(), "plan_hash": plan}).fine()
	s.End()
	after := p.snapshot()
	for range 20 {
		if p.killedUndo(files) {
			break
		}
		p.undo(0, p.newest()) // it finished too early: make the change again
	}
	if left, _ := os.ReadDir(p.file("src/made")); len(left) == 0 || len(left) == files {
		t.Fatalf("%d files are left: it was never killed in the middle", len(left))
	}
	p.start().End()
	if !maps.Equal(p.snapshot(), after) {
		t.Error("the change is not whole again")
	}
	ends := 0
	for _, e := range p.entries() {
		if e.Kind == ledger.KindComplete && e.Tool == "workbench undo" && e.Outcome == ledger.OutcomeError && strings.Contains(string(e.Data), `"recovered"`) {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("the trail tells of %d undos that were put right", ends)
	}
	p.atRest(-1)
	p.undo(0)
	if !maps.Equal(p.snapshot(), before) {
		t.Error("the change was not undone")
	}
	p.verify()
}

func (p *env) newest() string {
	p.t.Helper()
	list, _ := p.changes()
	return list[0].ID
}

// killedUndo undoes the newest change, kills the command when the first file is removed, and reports whether it was
// killed before the last.
func (p *env) killedUndo(files int) bool {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), binary, "workbench", "undo", "--root", p.work, "--state", p.state, "--yes")
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	for end := time.Now().Add(servertest.Timeout); time.Now().Before(end); {
		if left, _ := os.ReadDir(p.file("src/made")); len(left) < files {
			break
		}
	}
	_ = cmd.Process.Kill()
	return cmd.Wait() != nil
}
