package kaiza_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// midway is a server with a call that has written its file and waits for a check that does not end.
type midway struct {
	*stdio
	plan  string
	check int // pid of the check
}

func newMidway(p *env) *midway { return newMidwayUnder(p, p.approved("src/**")) }

// newMidwayUnder is like newMidway, with a plan that is already approved.
func newMidwayUnder(p *env, plan string) *midway {
	p.t.Helper()
	pid := filepath.Join(filepath.Dir(p.root), "pid")
	m := &midway{plan: plan}
	m.stdio = p.executor("--policy", p.checks("echo $$ > "+pid+"; exec sleep 1000"))
	params, err := json.Marshal(args{"name": "write_file", "arguments": args{
		"path": "src/hello.txt", "content": "midway\n", "previous_hash": hashOf("hello\nworld\n"), "plan_hash": m.plan}})
	if err != nil {
		p.t.Fatal(err)
	}
	m.Write(`{"jsonrpc":"2.0","id":"midway","method":"tools/call","params":` + string(params) + `}`)
	p.t.Cleanup(func() {
		if m.check > 0 {
			_ = syscall.Kill(m.check, syscall.SIGKILL)
		}
	})
	p.eventually("the check runs", func() bool {
		data, _ := os.ReadFile(pid)
		m.check, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return m.check > 0
	})
	if got, _ := p.read("src/hello.txt"); got != "midway\n" {
		p.t.Fatalf("the file holds %q while it is checked", got)
	}
	return m
}

// gone reports whether a process has ended, including zombies.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// undone checks that the interrupted change was undone and that the trail records it.
func (m *midway) undone() {
	m.t.Helper()
	if got, _ := m.p.read("src/hello.txt"); got != "hello\nworld\n" {
		m.t.Errorf("the file holds %q", got)
	}
	var call string
	for _, e := range m.p.entries() {
		switch {
		case e.Kind == ledger.KindReserve && e.Tool == "write_file" && call == "":
			call = e.Call
		case e.Kind == ledger.KindComplete && e.Call == call && call != "":
			if e.Outcome != ledger.OutcomeError || !strings.Contains(string(e.Data), `"recovered"`) || !strings.Contains(string(e.Data), "src/hello.txt") {
				m.t.Errorf("the trail tells of %s as %s", e.Outcome, e.Data)
			}
			return
		}
	}
	m.t.Error("the trail does not tell how the change ended")
}

// TestLockOfADeadServerIsTakenOver has a second server time out waiting for the lock while the first runs, and succeed
// after the first is killed: without a restart, and after recovering the partial change.
func TestLockOfADeadServerIsTakenOver(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	m := newMidway(p)
	other := p.executor()
	other.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": m.plan}).is("AUDIT_LOCK_FAILED")
	if _, there := p.read("src/a.txt"); there {
		t.Error("it was written beside the change of another")
	}
	m.Kill()
	other.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": m.plan}).fine()
	m.undone()
	p.atRest(2)
	other.End()
	p.verify()
}
