package kaiza_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// belongs checks that an envelope names this session; "" means null.
func (a answer) belongs(id, role, root string) {
	a.t.Helper()
	envelope := a.system()
	for name, want := range map[string]string{"session_id": id, "role": role, "workspace_root": root} {
		got := envelope.Path(name)
		if want == "" && !got.IsNull() || want != "" && !got.Is(want) {
			a.t.Errorf("%s is %s, want %q", name, got.Raw(), want)
		}
	}
}

func TestK9EnvelopeNamesTheSession(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		for _, role := range []string{"ANTIGRAVITY", "WINDSURF"} {
			c := dial()
			c.call("read_file", args{"path": "src/none", "role": role}).belongs("", "", "")
			c.call("no_such_tool", args{}).belongs("", "", "")
			c.call("begin_session", args{"workspace_root": "relative", "role": role}).belongs("", "", "")
			c.call("begin_session", args{"workspace_root": p.work, "role": "OTHER"}).belongs("", "", "")
			id := c.begin(role)
			c.call("read_file", args{"path": "src/none"}).belongs(id, role, p.work)
			c.call("read_file", args{"path": 5}).belongs(id, role, p.work)
			c.call("no_such_tool", args{}).belongs(id, role, p.work)
			c.call("begin_session", args{"workspace_root": p.work, "role": role}).belongs(id, role, p.work)
			for _, claimed := range []string{"ANTIGRAVITY", "WINDSURF"} {
				c.call("read_file", args{"path": "src/none", "role": claimed}).belongs(id, role, p.work)
			}
			c.stop()
		}
		p.verify()
	})
}

// badRoots returns folders in which a session must not begin.
func (p *env) badRoots() []string {
	p.t.Helper()
	beside := p.root + "-beside" // has the root's name as a prefix
	if err := os.MkdirAll(filepath.Join(beside, "work"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	for link, to := range map[string]string{"out": beside, "nowhere": filepath.Join(p.root, "gone"), "round": filepath.Join(p.root, "round")} {
		if err := os.Symlink(to, filepath.Join(p.root, link)); err != nil {
			p.t.Fatal(err)
		}
	}
	in := func(name string) string { return p.root + "/" + name }
	return []string{
		"work", "./work", "~", ".", in("none"), in("work/none/none"), in("work/src/hello.txt"), in("work/src/hello.txt/x"),
		"/", filepath.Dir(p.root), p.state, beside, filepath.Join(beside, "work"), in("out"), in("out/work"), in("nowhere"), in("round"),
		in("work/../.."), in("../" + filepath.Base(beside)), in("work\x00"), in(strings.Repeat("x", 300)),
	}
}

func TestK10AFailedBeginningLeavesTheServerUsable(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		bad := p.badRoots()
		c := dial()
		for _, root := range bad {
			a := c.call("begin_session", args{"workspace_root": root, "role": "WINDSURF"})
			if a.code() != "BOOTSTRAP_FAILURE" {
				t.Errorf("%q: %s", root, a.m.Bytes())
				continue
			}
			if envelope := a.enveloped("BOOTSTRAP_FAILURE"); strings.Contains(string(envelope.Raw()), filepath.Dir(p.root)) {
				t.Errorf("who has no session is shown a path: %s", envelope.Raw())
			}
			c.call("read_file", args{"path": "src/hello.txt"}).is("SESSION_NOT_INITIALIZED")
		}
		c.call("begin_session", args{"workspace_root": p.work, "role": "OTHER"}).is("INVALID_INPUT_VALUE")
		c.call("begin_session", args{"workspace_root": "", "role": "WINDSURF"}).is("INVALID_INPUT_VALUE")
		id := c.begin("WINDSURF")
		c.call("read_file", args{"path": "src/hello.txt"}).fine()
		for _, again := range []args{
			{"workspace_root": p.work, "role": "WINDSURF"}, {"workspace_root": p.work, "role": "ANTIGRAVITY"}, {"workspace_root": "relative", "role": "WINDSURF"},
		} {
			c.call("begin_session", again).enveloped("BOOTSTRAP_FAILURE")
		}
		if c.session == "" { // an unknown session id does not allow a second session on the same connection
			for _, unknown := range []string{"x", "00000000-0000-4000-8000-000000000000"} {
				c.call("begin_session", args{"workspace_root": p.work, "role": "ANTIGRAVITY", "session_id": unknown}).is("BOOTSTRAP_FAILURE")
			}
		}
		status := c.call("session_status", args{})
		if status.text("structuredContent", "session_id") != id || status.text("structuredContent", "role") != "WINDSURF" {
			t.Errorf("the session is now %s", status.m.Bytes())
		}
		c.stop()
		p.verify()
	})
}

// TestK10OneOfConcurrentBeginSessionsWins sends many begin_session calls without waiting for answers. Every other one
// names an unknown session, so that the server finds the existing session only when it binds the connection.
func TestK10OneOfConcurrentBeginSessionsWins(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.start()
	const many = 16
	for i := range many {
		c.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"begin_session","arguments":{"workspace_root":%q,"role":"%s"}}}`,
			100+i, p.work, []string{"ANTIGRAVITY", `WINDSURF","session_id":"unknown`}[i%2]))
	}
	begun := ""
	for range many {
		a := answer{t, c.Read()}
		if a.code() == "" {
			if begun != "" {
				t.Error("two sessions have begun on one connection")
			}
			begun = a.text("structuredContent", "session_id")
			continue
		}
		a.is("BOOTSTRAP_FAILURE")
	}
	if got := c.call("session_status", args{}).text("structuredContent", "session_id"); got != begun || begun == "" {
		t.Errorf("the session is %q and begun was %q", got, begun)
	}
	if kept, err := os.ReadDir(filepath.Join(p.state, "sessions")); err != nil || len(kept) != 1 {
		t.Errorf("%d sessions are kept, %v", len(kept), err)
	}
	if n := p.recorded(ledger.KindFailure); n != many-1 {
		t.Errorf("%d failures are recorded", n)
	}
}
