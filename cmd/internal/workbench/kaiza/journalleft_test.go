package kaiza_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// leaveJournal restores the journal of the newest change, as if the disk had failed when the completed change was
// archived.
func (p *env) leaveJournal() (journal string) {
	p.t.Helper()
	kept, err := filepath.Glob(filepath.Join(p.state, "workspaces", "*", "history", "*"))
	if err != nil || len(kept) != 1 {
		p.t.Fatalf("the history is %v, %v", kept, err)
	}
	parts := strings.SplitN(filepath.Base(kept[0]), "-", 3)
	journal = filepath.Join(filepath.Dir(filepath.Dir(kept[0])), "changes", parts[2])
	p.must(os.MkdirAll(filepath.Dir(journal), 0o700))
	p.must(os.Rename(kept[0], journal))
	return journal
}

// TestCompletedChangeWithLeftoverJournalIsKept edits files of a change that is complete in the trail while its journal
// still exists. The recovery removes the journal and does not change the files.
func TestCompletedChangeWithLeftoverJournalIsKept(t *testing.T) {
	t.Parallel()
	const patch = "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n+moon\n" +
		"--- /dev/null\n+++ b/src/made/new.txt\n@@ -0,0 +1 @@\n+new\n"
	for name, edit := range map[string]func(p *env){
		"not edited":   func(*env) {},
		"one edited":   func(p *env) { p.write("src/hello.txt", "by a person\n") },
		"one put back": func(p *env) { p.write("src/hello.txt", "hello\nworld\n") },
		"one deleted":  func(p *env) { p.must(os.Remove(p.file("src/made/new.txt"))) },
		"all edited":   func(p *env) { p.write("src/hello.txt", "a\n"); p.write("src/made/new.txt", "b\n") },
		"all put back": func(p *env) {
			p.write("src/hello.txt", "hello\nworld\n")
			p.must(os.Remove(p.file("src/made/new.txt")))
		},
		"edited, and a link": func(p *env) {
			p.must(os.Remove(p.file("src/hello.txt")))
			p.must(os.Symlink("made/new.txt", p.file("src/hello.txt")))
		},
	} {
		for who, recovers := range map[string]func(p *env, plan string){
			"start": func(p *env, _ string) { p.start().End() },
			"call": func(p *env, plan string) { // the same recovery, so not for every edit
				p.executor().call("write_file", args{"path": "src/other.txt", "content": "x", "plan_hash": plan}).fine()
			},
		} {
			if who == "call" && name != "one edited" && name != "all put back" {
				continue
			}
			t.Run(name+"/"+who, func(t *testing.T) {
				t.Parallel()
				p := newEnv(t)
				plan := p.approved("src/**")
				c := p.executor()
				c.call("apply_patch", args{"patch": patch, "plan_hash": plan}).fine()
				c.End()
				journal := p.leaveJournal()
				edit(p)
				before := p.snapshot()
				recovers(p, plan)
				after := p.snapshot()
				delete(after, p.file("src/other.txt"))
				for name := range before {
					if before[name] != after[name] {
						t.Errorf("%s was %q and is %q", name, before[name], after[name])
					}
				}
				if len(before) != len(after) {
					t.Errorf("there was %v and is %v", before, after)
				}
				if _, err := os.Stat(journal); err == nil {
					t.Error("the journal is still there")
				}
				for _, e := range p.entries() {
					if e.Kind == ledger.KindComplete && e.Tool == "apply_patch" && e.Outcome != ledger.OutcomeOK {
						t.Errorf("the trail says that a change was completed, and then that it is %s: %s", e.Outcome, e.Data)
					}
				}
				p.verify()
			})
		}
	}
}
