package kaiza_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// TestASessionOfAnotherRootIsNotServed restarts the server with another root: an earlier session must not give access to
// its old workspace.
func TestASessionOfAnotherRootIsNotServed(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	w := p.listen()
	c := w.stateless()
	c.begin("WINDSURF")
	c.call("read_file", args{"path": "src/hello.txt"}).fine()
	w.kill()
	old := p.root
	p.root = filepath.Join(filepath.Dir(old), "another")
	if err := os.Mkdir(p.root, 0o700); err != nil {
		t.Fatal(err)
	}
	w = p.listen()
	c.ask = w.stateless().ask
	c.call("read_file", args{"path": "src/hello.txt"}).is("BOOTSTRAP_FAILURE")
	c.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).is("BOOTSTRAP_FAILURE")
	c.call("read_audit_log", args{}).is("BOOTSTRAP_FAILURE")
	if _, there := p.read("src/a.txt"); there {
		t.Error("a file outside the root was written")
	}
}

// TestTheTrailOfAnotherWorkspaceStaysThere reads the trail in two workspaces of one server.
func TestTheTrailOfAnotherWorkspaceStaysThere(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for _, name := range []string{"work2", "work/inner"} {
		if err := os.MkdirAll(filepath.Join(p.root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := p.listen()
	c := w.stateless()
	c.begin("WINDSURF")
	c.call("read_file", args{"path": "planted-word.txt"}).is("FILE_NOT_FOUND")
	for _, name := range []string{"work2", "work/inner", ""} {
		other := w.stateless()
		a := other.call("begin_session", args{"workspace_root": filepath.Join(p.root, name), "role": "ANTIGRAVITY"})
		a.fine()
		other.session = a.text("structuredContent", "session_id")
		for _, in := range []args{{"last": 500}, {"tool": "read_file"}, {"code": "FILE_NOT_FOUND"}} {
			log := other.call("read_audit_log", in)
			log.fine()
			if text := string(log.m.Bytes()); strings.Contains(text, "planted-word") || strings.Contains(text, c.session) {
				t.Errorf("%q sees %s", name, text)
			}
		}
	}
	mine := c.call("read_audit_log", args{"tool": "read_file"})
	if !strings.Contains(string(mine.m.Bytes()), "planted-word") {
		t.Errorf("one's own workspace is not shown: %s", mine.m.Bytes())
	}
}

// TestReplyDescribesWhatTheChecksLeft has a check rewrite the written file, like a formatter, or like an agent that
// tries to bypass the policy with code that a check runs.
func TestReplyDescribesWhatTheChecksLeft(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	const old = "hello\nworld\n"
	write := args{"path": "src/hello.txt", "content": "moon\n", "previous_hash": hashOf(old), "plan_hash": plan}
	for script, code := range map[string]string{
		"echo formatted > src/hello.txt":                 "",
		"echo FORBIDDEN >> src/hello.txt":                "POLICY_VIOLATION",
		"echo worse > src/hello.txt; exit 1":             "PREFLIGHT_FAILED",
		"rm src/hello.txt; exit 1":                       "PREFLIGHT_FAILED",
		"rm src/hello.txt":                               "PREFLIGHT_FAILED",
		"printf '%b' 'hello\\nworld\\n' > src/hello.txt": "", // unchanged
	} {
		p.write("src/hello.txt", old)
		quoted, _ := json.Marshal(script)
		s := p.executor("--policy", p.policyFile("rules:\n  - id: NO\n    pattern: FORBIDDEN\n    message: No.\npreflight:\n  - name: check\n    run: [sh, -c, "+string(quoted)+"]\n"))
		a := s.call("write_file", write)
		a.is(code)
		got, _ := p.read("src/hello.txt")
		if told := a.text("structuredContent", "files", 0, "after"); code == "" && told != hashOf(got) {
			t.Errorf("%s: the file holds %q and the answer says %s", script, got, told)
		}
		if code != "" && got != old {
			t.Errorf("%s: the file holds %q", script, got)
		}
		s.unlocked(hashOf(script) + ".md")
		s.stop()
	}
	for _, e := range p.completions() {
		if e.Outcome == ledger.OutcomeOK && strings.Contains(string(e.Data), hashOf("moon\n")) {
			t.Errorf("the trail says what was not so: %s", e.Data)
		}
	}
}

// TestAnArgumentThatFitsTheSchemaIsUnderstood checks unusual notations that pass the schema; an argument that is still
// refused is named.
func TestAnArgumentThatFitsTheSchemaIsUnderstood(t *testing.T) {
	t.Parallel()
	c := newEnv(t).executor()
	for tool, in := range map[string]string{
		"read_audit_log": `{"last":5.0}`, "read_file": `{"path":"src/hello.txt","line":1e0,"lines":20e-1}`,
	} {
		c.call(tool, json.RawMessage(in)).fine()
	}
	c.call("read_file", json.RawMessage(`{"path":"src/hello.txt","line":1e30}`)).fine() // empty beyond the end of the file
	empty := c.call("write_file", args{"path": "docs/reports/a.md", "content": " "})
	if said, _ := empty.system().Path("human_message").Str(); !strings.Contains(said, "a report must say something") {
		t.Errorf("who writes an empty report is told %q", said)
	}
}

// TestGuessedSessionIsRefused tries invalid session ids and names of files.
func TestGuessedSessionIsRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.listen()
	real := w.stateless()
	id := real.begin("WINDSURF")
	for _, guess := range []string{"00000000-0000-4000-8000-000000000000", strings.ToUpper(id), id[:35], id + "0", " " + id, id + ".json", "../sessions/" + id,
		"../version", "*", "%2e%2e", "null", "stdio", "http:" + id, strings.Repeat("a", 64)} {
		c := w.stateless()
		c.session = guess
		a := c.call("read_file", args{"path": "src/hello.txt"})
		a.is("SESSION_NOT_INITIALIZED")
		meta, _ := json.Marshal(guess)
		named := answer{t, w.stateful().ask("tools/call", `{"name":"read_file","arguments":{"path":"src/hello.txt"},"_meta":{"dev.candor/session":`+string(meta)+`}}`)}
		named.is("SESSION_NOT_INITIALIZED")
	}
	real.call("read_file", args{"path": "src/hello.txt"}).fine()
}
