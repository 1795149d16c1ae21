package kaiza_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/testing/systrace"
	"github.com/candor-mcp/candor/ledger"
)

// kinds returns the kinds of entries of each call, in the order in which the calls began.
func (p *env) kinds() (calls [][]ledger.Kind) {
	p.t.Helper()
	at := map[string]int{}
	for _, e := range p.entries() {
		if e.Call == "" || e.Role == "OPERATOR" {
			continue
		}
		if _, known := at[e.Call]; !known {
			at[e.Call] = len(calls)
			calls = append(calls, nil)
		}
		calls[at[e.Call]] = append(calls[at[e.Call]], e.Kind)
	}
	return calls
}

// Kinds of entries that a call must have in the trail, in order.
var (
	served  = []ledger.Kind{ledger.KindEnter, ledger.KindExit}
	failing = []ledger.Kind{ledger.KindEnter, ledger.KindFailure, ledger.KindExit}
	changed = []ledger.Kind{ledger.KindEnter, ledger.KindReserve, ledger.KindComplete, ledger.KindExit}
)

// TestK15EveryCallIsRecordedOnceBeforeItsAnswer reads the trail as soon as each answer is received.
func TestK15EveryCallIsRecordedOnceBeforeItsAnswer(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		plan := p.approved("src/**")
		c, before := dial(), len(p.kinds())
		expect := func(a answer, code string, want []ledger.Kind) {
			t.Helper()
			a.is(code)
			calls := p.kinds()
			if before++; len(calls) != before {
				t.Fatalf("%d calls are on record, and %d were answered", len(calls), before)
			}
			if got := calls[before-1]; !slices.Equal(got, want) {
				t.Errorf("%s: on record are %v, not %v", code, got, want)
			}
		}
		read := args{"path": "src/hello.txt"}
		expect(c.call("read_file", read), "SESSION_NOT_INITIALIZED", failing)
		expect(c.call("begin_session", args{"workspace_root": "/nowhere", "role": "WINDSURF"}), "BOOTSTRAP_FAILURE", failing)
		c.begin("WINDSURF")
		before++
		expect(c.call("read_file", read), "", served)
		expect(c.call("read_file", args{"path": "none"}), "FILE_NOT_FOUND", failing)
		expect(c.call("read_file", args{"path": 5}), "INVALID_INPUT_TYPE", failing)
		expect(c.call("read_file", args{"path": "src/hello.txt", "more": 1}), "INVALID_INPUT_VALUE", failing)
		expect(c.call("submit_plan", args{"content": planText("src/**")}), "UNAUTHORIZED_ACTION", failing)
		expect(c.call("drill", args{"kind": "panic"}), "INTERNAL_ERROR", failing)
		expect(c.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}), "", changed)
		expect(c.call("write_file", args{"path": "a.txt", "content": "x", "plan_hash": plan}), "PLAN_SCOPE_VIOLATION", failing)
		expect(c.call("write_file", args{"path": "src/b.txt", "content": "x", "plan_hash": plan}), "SESSION_LOCKED", failing)
		expect(c.call("write_file", args{"path": "docs/reports/a.md", "content": "x"}), "", changed)
		unknown := c.call("no_such_tool", args{})
		expect(unknown, unknown.code(), failing)
		if unknown.code() == "" {
			t.Error("a tool that there is not was served")
		}
		p.verify()
	}, "--drill")
}

// TestK15AnEntryIsOnTheDiskBeforeItsAnswer traces the system calls of the server.
func TestK15AnEntryIsOnTheDiskBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	trace := filepath.Join(filepath.Dir(p.root), "trace")
	s := p.prepare()
	if err := systrace.Wrap(s.Cmd, trace); err != nil {
		t.Skip("strace is not installed")
	}
	s.Start()
	s.begin("WINDSURF")
	for i := range 3 {
		s.call("read_file", args{"path": "src/hello.txt"}).fine()
		s.call("read_file", args{"path": "none"}).is("FILE_NOT_FOUND")
		s.call("read_file", args{"path": i}).is("INVALID_INPUT_TYPE")
		s.call("no_such_tool", args{})
		s.call("write_file", args{"path": fmt.Sprintf("src/%d.txt", i), "content": "x", "plan_hash": plan}).fine()
	}
	s.End()
	if strings.Contains(s.Stderr.String(), "ptrace") {
		t.Skipf("strace may not trace here: %s", &s.Stderr)
	}
	calls, err := systrace.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	answered, last := 0, 0
	for i, c := range calls {
		if !c.Says() || !strings.Contains(c.Args, `\"id\":`) || strings.Contains(c.Args, `\"protocolVersion\"`) {
			continue
		}
		for _, kind := range []string{"enter", "exit"} { // of this call: after the previous answer
			if !durable(calls[last:i], `\"kind\":\"`+kind+`\"`, c.Began) {
				t.Errorf("answer %d went out before its %s was on the disk", answered, kind)
			}
		}
		if _, ref, failed := strings.Cut(c.Args, `\"ref\":\"`); failed {
			ref, _, _ = strings.Cut(ref, `\"`)
			if why := systrace.Unordered(calls[:i], "audit-log.jsonl", ref, c.Began); why != "" {
				t.Errorf("the failure %s: %s", ref, why)
			}
		}
		answered, last = answered+1, i
	}
	if answered != 16 {
		t.Errorf("%d answers are in the trace, and 16 were sent", answered)
	}
}

// durable reports whether a line with that member was written to the trail and synced before a line of the trace.
func durable(calls []*systrace.Call, member string, said int) bool {
	for i, w := range calls {
		if !w.Writes() || !strings.HasSuffix(w.File(), "/audit-log.jsonl") || !strings.Contains(w.Args, member) {
			continue
		}
		if slices.ContainsFunc(calls[i+1:], func(s *systrace.Call) bool {
			return s.Syncs() && s.File() == w.File() && s.Began >= w.Ended && s.Ended != 0 && s.Ended <= said
		}) {
			return true
		}
	}
	return false
}

// flood sends n calls, a limited number at a time, and returns the answers in the order received. It ends when the
// server does.
func (s *stdio) flood(n int, params func(i int) string) (answers []answer) {
	const some = 16
	sent := make(chan (<-chan mcpclient.Answer), some)
	go func() { // concurrently with reading, to avoid a deadlock
		defer close(sent)
		for i := range n {
			sent <- s.Send("tools/call", params(i))
		}
	}()
	for arriving := range sent {
		if m, err := s.Await(arriving); err == nil {
			answers = append(answers, answer{s.t, m})
		}
	}
	return answers
}
