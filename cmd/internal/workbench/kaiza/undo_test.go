package kaiza_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// pastChange is one change in the output of `candor workbench changes --json`.
type pastChange struct {
	ID       string `json:"id"`
	Tool     string `json:"tool"`
	Plan     string `json:"plan_hash"`
	Undoes   string `json:"undoes"`
	UndoneBy string `json:"undone_by"`
	Files    []struct {
		Path   string `json:"path"`
		Before int    `json:"bytes_before"`
		Bytes  int    `json:"bytes"`
	} `json:"files"`
}

// onWork runs a command of the workbench on this workspace.
func (p *env) onWork(command string, more ...string) (string, int) {
	p.t.Helper()
	return p.candor(append([]string{"workbench", command, "--root", p.work, "--state", p.state}, more...)...)
}

func (p *env) changes(more ...string) []pastChange {
	p.t.Helper()
	out, code := p.onWork("changes", append(more, "--json")...)
	var page struct {
		Changes []pastChange `json:"changes"`
	}
	if err := json.Unmarshal([]byte(out), &page); err != nil || code != 0 {
		p.t.Fatalf("changes: %d %v %s", code, err, out)
	}
	return page.Changes
}

// undo runs the undo command, checks its exit code and returns its output.
func (p *env) undo(want int, more ...string) string {
	p.t.Helper()
	out, code := p.onWork("undo", append(more, "--yes", "--by", "tester")...)
	if code != want {
		p.t.Fatalf("undo %v: %d, want %d\n%s", more, code, want, out)
	}
	return out
}

// snapshot returns everything in the src folder, with modes.
func (p *env) snapshot() map[string]string {
	p.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(p.file("src"), func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		text := ""
		if err == nil && !d.IsDir() {
			content, _ := os.ReadFile(name)
			text = string(content)
		}
		all[name] = info.Mode().String() + " " + text
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// TestUndoEveryEffect undoes the change of each tool while the server runs, and then undoes that undo.
func TestUndoEveryEffect(t *testing.T) {
	t.Parallel()
	for tool, effect := range effects {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			if err := os.Chmod(p.file("src/hello.txt"), 0o640); err != nil {
				t.Fatal(err)
			}
			before := p.snapshot()
			call := maps.Clone(effect.call)
			call["plan_hash"] = p.approved("src/**")
			s := p.executor()
			s.call(tool, call).fine()
			after := p.snapshot()
			list := p.changes()
			if len(list) != 1 || list[0].Tool != tool || list[0].UndoneBy != "" || list[0].Plan != call["plan_hash"] || len(list[0].Files) == 0 {
				t.Fatalf("the changes are %+v", list)
			}
			p.undo(0, "--dry-run")
			if !maps.Equal(p.snapshot(), after) {
				t.Error("a dry run changed something")
			}
			p.undo(0, list[0].ID)
			if got := p.snapshot(); !maps.Equal(got, before) {
				t.Errorf("undone it is %v, and was %v", got, before)
			}
			list = p.changes()
			if len(list) != 2 || list[0].Tool != "workbench undo" || list[0].Undoes != list[1].ID || list[1].UndoneBy != list[0].ID || list[0].UndoneBy != "" {
				t.Errorf("the changes are %+v", list)
			}
			p.undo(2)             // only the undo itself is left
			p.undo(2, list[1].ID) // a change is undone only once
			p.undo(0, list[0].ID)
			if got := p.snapshot(); !maps.Equal(got, after) {
				t.Errorf("made again it is %v, and was %v", got, after)
			}
			s.call("session_status", args{}).fine()
			s.End()
			p.atRest(-1)
			p.verify()
			p.undoRecorded(2)
		})
	}
}

// undoRecorded checks the number of undos in the trail, each reserved and completed by the tester.
func (p *env) undoRecorded(want int) {
	p.t.Helper()
	reserved, completed := 0, 0
	for _, e := range p.entries() {
		switch {
		case e.Tool != "workbench undo" || e.Role != "OPERATOR":
		case e.Kind == ledger.KindReserve:
			reserved++
		case e.Kind == ledger.KindComplete && e.Outcome == ledger.OutcomeOK && strings.Contains(string(e.Data), `"tester"`):
			completed++
		}
	}
	if reserved != want || completed != want {
		p.t.Errorf("%d undos are reserved and %d completed", reserved, completed)
	}
}

// TestUndoIsRefusedWhereAFileChangedSince checks that undo reports the difference with exit code 1 and changes nothing.
func TestUndoIsRefusedWhereAFileChangedSince(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor()
	patch := "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n+moon\n--- /dev/null\n+++ b/src/new.txt\n@@ -0,0 +1 @@\n+new\n"
	s.call("apply_patch", args{"patch": patch, "plan_hash": plan}).fine()
	p.write("src/new.txt", "a person was here\n")
	if out := p.undo(1); !strings.Contains(out, "HASH_MISMATCH") || !strings.Contains(out, `"src/new.txt" has changed`) || strings.Contains(out, "src/hello.txt") {
		t.Errorf("it says %s", out)
	}
	out, code := p.onWork("undo", "--json", "--yes", "--dry-run")
	line, _, _ := strings.Cut(out, "\n")
	var report struct {
		OK   bool   `json:"ok"`
		Code string `json:"code"`
	}
	if err := json.Unmarshal([]byte(line), &report); err != nil || code != 1 || report.OK || report.Code != "HASH_MISMATCH" {
		t.Errorf("%d %v %s", code, err, out)
	}
	p.holds("src/hello.txt", "hello\nmoon\n")
	p.holds("src/new.txt", "a person was here\n")
	p.undoRecorded(0)
	if err := os.Remove(p.file("src/new.txt")); err != nil {
		t.Fatal(err)
	}
	if out := p.undo(1); !strings.Contains(out, `"src/new.txt" does not exist`) {
		t.Errorf("it says %s", out)
	}
	p.write("src/new.txt", "new\n")
	p.undo(0)
	p.holds("src/hello.txt", hello)
	p.holds("src/new.txt", "-")
}

// TestUndoStepsBack undoes the newest change, then those before it.
func TestUndoStepsBack(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor()
	text := hello
	for _, next := range []string{"one\n", "two\n", "three\n"} {
		s.call("write_file", args{"path": "src/hello.txt", "content": next, "previous_hash": hashOf(text), "plan_hash": plan}).fine()
		text = next
	}
	all, newest := p.changes(), p.changes("--limit", "1")
	if len(all) != 3 || len(newest) != 1 || newest[0].ID != all[0].ID || all[0].Files[0].Before != 4 || all[0].Files[0].Bytes != 6 || all[2].Files[0].Before != len(hello) {
		t.Errorf("the changes are %+v", all)
	}
	p.undo(1, all[2].ID[:8])
	for _, want := range []string{"two\n", "one\n", hello} {
		p.undo(0)
		p.holds("src/hello.txt", want)
	}
	p.undo(2)
	p.undo(2, "ffffffffffff")
	s.call("write_file", args{"path": "src/hello.txt", "content": "x", "previous_hash": hashOf("three\n"), "plan_hash": plan}).is("HASH_MISMATCH")
	s.End()
	p.verify()
}
