package kaiza_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/testing/systrace"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
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

// trailFile returns the file with the entries of the newest chain.
func (p *env) trailFile() string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.ledgerDir(), "kaiza-*", "audit-log.jsonl"))
	if err != nil || len(files) == 0 {
		p.t.Fatalf("there is no trail: %v", err)
	}
	slices.Sort(files) // their names contain the time
	return files[len(files)-1]
}

// forged returns a modified entry with the link of the original and a correct hash.
func forged(line []byte) []byte {
	body, _, _ := bytes.Cut(bytes.Replace(line, []byte("read_file"), []byte("list_dir_"), 1), []byte(`,"hash":"`))
	return fmt.Appendf(nil, "%s,\"hash\":\"%s\"}\n", body, hashOf(string(body)))
}

// TestK16EveryChangeOfTheTrailIsFound damages copies of a valid trail, each in one way, and runs the auditor's command.
func TestK16EveryChangeOfTheTrailIsFound(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	for i := range 10 {
		s.call("read_file", args{"path": fmt.Sprintf("none-%d", i)}).is("FILE_NOT_FOUND")
	}
	s.End()
	if out, code := p.candor("ledger", "verify", p.ledgerDir()); code != 0 {
		t.Fatalf("the untouched trail: %d %s", code, out)
	}
	name, err := filepath.Rel(p.ledgerDir(), p.trailFile())
	if err != nil {
		t.Fatal(err)
	}
	const at = 12 // index of the damaged line; its number is one more
	for harm, c := range map[string]struct {
		do    func(lines [][]byte) [][]byte
		seq   uint64
		kinds []string
	}{
		"edit": {func(l [][]byte) [][]byte {
			l[at] = bytes.Replace(l[at], []byte(`read_file`), []byte(`read_fine`), 1)
			return l
		}, at + 1, []string{"bad-hash"}},
		"deletion":   {func(l [][]byte) [][]byte { return slices.Delete(l, at, at+1) }, at + 1, []string{"wrong-seq", "broken-link"}},
		"insertion":  {func(l [][]byte) [][]byte { return slices.Insert(l, at, l[3]) }, 4, []string{"duplicate"}},
		"forgery":    {func(l [][]byte) [][]byte { return slices.Insert(l, at, forged(l[at])) }, at + 1, []string{"duplicate"}},
		"repetition": {func(l [][]byte) [][]byte { return slices.Insert(l, at, l[at-1]) }, at, []string{"duplicate"}},
		"reorder":    {func(l [][]byte) [][]byte { l[at], l[at+1] = l[at+1], l[at]; return l }, at + 1, []string{"wrong-seq", "broken-link"}},
		"cut tail":   {func(l [][]byte) [][]byte { return l[:at] }, at + 1, []string{"truncated"}},
		"cut call":   {func(l [][]byte) [][]byte { return l[:len(l)-2] }, 0, []string{"truncated"}}, // the last call, including the closing line
	} {
		t.Run(harm, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "ledger")
			if err := os.CopyFS(dir, os.DirFS(p.ledgerDir())); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(bytes.TrimRight(data, "\n"), []byte("\n"))
			lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
			count := uint64(len(lines))
			if err := os.WriteFile(filepath.Join(dir, name), bytes.Join(c.do(lines), nil), 0o600); err != nil {
				t.Fatal(err)
			}
			q := &env{t: t}
			out, code := q.candor("ledger", "verify", dir, "--json")
			var report ledgerverify.Report
			if err := json.Unmarshal([]byte(out[:strings.Index(out, "\n")+1]), &report); err != nil || code != 1 || len(report.Damage) == 0 {
				t.Fatalf("%d %v %s", code, err, out)
			}
			want := c.seq
			if want == 0 {
				want = count - 1
			}
			if h := report.Damage[0]; h.Seq != want || !slices.Contains(c.kinds, h.Kind) {
				t.Errorf("found is %s, not one of %v at %d", h, c.kinds, want)
			}
		})
	}
}

// TestK17TornLastLineDoesNotStopServers kills a server, appends half a line to its last entry, and starts another.
func TestK17TornLastLineDoesNotStopServers(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	s.call("read_file", args{"path": "src/hello.txt"}).fine()
	s.Kill()
	chain := p.trailFile()
	whole, err := os.ReadFile(chain)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	torn := bytes.TrimRight(lines[len(lines)-2], "\n")
	torn = torn[:len(torn)/2]
	if err := os.WriteFile(chain, append(bytes.Clone(whole), torn...), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(p.entries())

	next := p.executor()
	next.call("read_file", args{"path": "src/hello.txt"}).fine()
	next.call("read_file", args{"path": "none"}).is("FILE_NOT_FOUND")
	next.End()
	p.verify()
	if after, err := os.ReadFile(chain); err != nil || !bytes.Equal(after, whole) {
		t.Errorf("the whole lines were not kept, and only they: %v", err)
	}
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(chain), "evidence", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("the evidence is %v %v", kept, err)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(data, torn) {
		t.Errorf("the evidence holds %q, and torn was %q", data, torn)
	}
	entries := p.entries()
	if len(entries) <= before+4 {
		t.Errorf("there were %d entries, and now %d", before, len(entries))
	}
	if !slices.ContainsFunc(entries, func(e ledger.Record) bool {
		return e.Kind == ledger.KindRecovered && strings.Contains(string(e.Data), fmt.Sprintf(`"cut":%d`, len(torn)))
	}) {
		t.Error("no entry tells of what was cut")
	}
}

// TestK18TwoServersShareOneTrail has two servers write a thousand entries each into one folder concurrently.
func TestK18TwoServersShareOneTrail(t *testing.T) {
	t.Parallel()
	const calls = 500 // two entries each
	p := newEnv(t)
	p.start().End() // creates the shared files first
	servers := []*stdio{p.executor(), p.executor()}
	var both sync.WaitGroup
	for _, s := range servers {
		both.Go(func() {
			for _, a := range s.flood(calls, func(int) string { return `{"name":"session_status","arguments":{}}` }) {
				if failed, _ := a.m.Result().Path("isError").Bool(); failed || !a.m.Result().Present() {
					t.Errorf("a call failed: %s", a.m.Bytes())
					return
				}
			}
		})
	}
	both.Wait()
	for _, s := range servers {
		s.ownsAChain()
		s.End()
	}
	p.verify()
	type name struct {
		chain string
		seq   uint64
	}
	seen, status := map[name]bool{}, map[string]int{}
	for _, e := range p.entries() {
		if seen[name{e.Chain, e.Seq}] {
			t.Errorf("%s/%d is there twice", e.Chain, e.Seq)
		}
		seen[name{e.Chain, e.Seq}] = true
		if e.Tool == "session_status" {
			status[e.SessionID]++
		}
	}
	for session, n := range status {
		if n != 2*calls {
			t.Errorf("the session %s has %d entries", session, n)
		}
	}
	if len(status) != len(servers) {
		t.Errorf("%d sessions are on record", len(status))
	}
}

// ownsAChain checks that the lock of one chain names this server.
func (s *stdio) ownsAChain() {
	s.t.Helper()
	locks, err := filepath.Glob(filepath.Join(s.p.ledgerDir(), "kaiza-*", "lock"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, lock := range locks {
		var holder struct {
			Owner string `json:"owner"`
			PID   int    `json:"pid"`
		}
		if data, err := os.ReadFile(lock); err == nil && json.Unmarshal(data, &holder) == nil && holder.PID == s.Cmd.Process.Pid && holder.Owner != "" {
			return
		}
	}
	s.t.Errorf("no chain says that process %d holds it", s.Cmd.Process.Pid)
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
