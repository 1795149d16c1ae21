package kaiza_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// TestAKillInEveryEffectIsUndone kills the server while a check runs after the effect: its end is not recorded, so the
// next start undoes it.
func TestAKillInEveryEffectIsUndone(t *testing.T) {
	t.Parallel()
	for tool, effect := range effects {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			plan, pid := p.approved("src/**"), filepath.Join(filepath.Dir(p.root), "pid")
			s := p.executor("--policy", p.checks("echo $$ > "+pid+"; exec sleep 1000"))
			call := maps.Clone(effect.call)
			call["plan_hash"] = plan
			params, err := json.Marshal(args{"name": tool, "arguments": call})
			if err != nil {
				t.Fatal(err)
			}
			s.Write(`{"jsonrpc":"2.0","id":"midway","method":"tools/call","params":` + string(params) + `}`)
			check := 0
			t.Cleanup(func() {
				if check > 0 {
					_ = syscall.Kill(check, syscall.SIGKILL)
				}
			})
			p.eventually("the check runs", func() bool {
				data, _ := os.ReadFile(pid)
				check, _ = strconv.Atoi(strings.TrimSpace(string(data)))
				return check > 0
			})
			if !effect.done(p) {
				t.Fatal("the effect is not there while it is checked")
			}
			s.Kill()
			p.eventually("the check is gone with its server", func() bool { return gone(check) })
			p.start().End()
			p.holds("src/hello.txt", hello)
			if effect.done(p) {
				t.Error("the effect was not undone")
			}
			for _, made := range []string{"src/a", "src/new"} {
				if _, err := os.Stat(p.file(made)); err == nil {
					t.Errorf("%s was left", made)
				}
			}
			p.atRest(1)
			p.verify()
			p.endsWith(tool, ledger.OutcomeError)
		})
	}
}

// TestAKillAfterTheEndOfEveryEffectKeepsIt kills the server when the end of the effect is recorded and its journal still
// exists.
func TestAKillAfterTheEndOfEveryEffectKeepsIt(t *testing.T) {
	t.Parallel()
	for tool, effect := range effects {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			call := maps.Clone(effect.call)
			call["plan_hash"] = p.approved("src/**")
			params, err := json.Marshal(args{"name": tool, "arguments": call})
			if err != nil {
				t.Fatal(err)
			}
			s := p.executor()
			free := p.holdHistory()
			s.flood(1, func(int) string { return string(params) })
			s.Kill()
			free()
			p.start().End()
			if !effect.done(p) {
				t.Error("the effect was undone, and its end is recorded")
			}
			p.atRest(-1)
			p.verify()
			p.endsWith(tool, ledger.OutcomeOK)
		})
	}
}

// holdHistory puts a file at the path of the workspace's history, so that every journal remains until free is called.
// The disk then looks as if the server was killed right after recording the end of a change.
func (p *env) holdHistory() (free func()) {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.state, "workspaces", "*"))
	if err != nil || len(found) != 1 {
		p.t.Fatalf("the workspaces are %v: %v", found, err)
	}
	history := filepath.Join(found[0], "history")
	if err := os.WriteFile(history, nil, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		journals, _ := filepath.Glob(filepath.Join(found[0], "changes", "*", "journal.json"))
		if err := os.Remove(history); err != nil || len(journals) != 1 {
			p.t.Fatalf("the journals are %v: %v", journals, err)
		}
	}
}

// endsWith checks that a tool has one completion, with this outcome.
func (p *env) endsWith(tool string, want ledger.Outcome) {
	p.t.Helper()
	var got []ledger.Outcome
	for _, e := range p.entries() {
		if e.Kind == ledger.KindComplete && e.Tool == tool {
			got = append(got, e.Outcome)
		}
	}
	if len(got) != 1 || got[0] != want {
		p.t.Errorf("the trail tells of %v", got)
	}
}

// TestUndoWaitsForTheCallThatChangesTheWorkspace checks that undo waits for the lock and then fails with the reason.
func TestUndoWaitsForTheCallThatChangesTheWorkspace(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	s.call("write_file", args{"path": "src/a.txt", "content": "a\n", "plan_hash": p.approved("src/**")}).fine()
	s.End()
	m := newMidway(p)
	if out := p.undo(2, "--wait", "1s"); !strings.Contains(out, "AUDIT_LOCK_FAILED") || !strings.Contains(out, "try again") {
		t.Errorf("it says %s", out)
	}
	p.holds("src/a.txt", "a\n")
	m.Kill()
	p.eventually("the check is gone with its server", func() bool { return gone(m.check) })
	p.undo(0) // recovers the change of the killed server and nothing else
	p.holds("src/hello.txt", hello)
	p.holds("src/a.txt", "a\n")
	p.undo(0)
	p.holds("src/a.txt", "-")
}

// TestKillReleasesTheUseOfAnApproval checks that a change that was undone after a kill does not use up an approval for
// one change.
func TestKillReleasesTheUseOfAnApproval(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.approveWith(plan, "--uses", "1")
	m := newMidwayUnder(p, plan)
	m.Kill()
	p.eventually("the check is gone with its server", func() bool { return gone(m.check) })
	s := p.executor()
	write := func(name string) answer {
		return s.call("write_file", args{"path": name, "content": "x\n", "plan_hash": m.plan})
	}
	write("src/a.txt").fine()
	write("src/b.txt").refusedFor("used_up")
}
