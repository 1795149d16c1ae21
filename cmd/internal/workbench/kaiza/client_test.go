package kaiza_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// client calls tools over any transport.
type client struct {
	t    testing.TB
	p    *env
	ask  func(method, params string) wire.Message // sends a request and returns its answer
	stop func()                                   // ends the connection, and over stdio the server

	session string // sent with each call; "" if the connection is the session
}

// answer is the response to a call.
type answer struct {
	t testing.TB
	m wire.Message
}

// call calls a tool. The arguments are any value that can be encoded as JSON, or a json.RawMessage.
func (c *client) call(tool string, args any) answer {
	c.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.session != "" && bytes.HasPrefix(raw, []byte("{")) {
		raw, err = splice.SetMember(nil, raw, []string{"session_id"}, []byte(`"`+c.session+`"`))
		if err != nil {
			c.t.Fatal(err)
		}
	}
	name, _ := json.Marshal(tool)
	return answer{c.t, c.ask("tools/call", fmt.Sprintf(`{"name":%s,"arguments":%s}`, name, raw))}
}

type args = map[string]any

// begin begins a session in the workspace and returns its id.
func (c *client) begin(role string) string {
	c.t.Helper()
	a := c.call("begin_session", args{"workspace_root": c.p.work, "role": role})
	a.fine()
	id := a.text("structuredContent", "session_id")
	if echo, _ := a.m.Result().Path("structuredContent", "echo_session_id").Bool(); echo {
		c.session = id
	}
	return id
}

// submit submits a plan and returns its hash.
func (c *client) submit(plan string) string {
	c.t.Helper()
	a := c.call("submit_plan", args{"content": plan})
	a.fine()
	return a.text("structuredContent", "plan_hash")
}

// hash reads a file and returns its hash.
func (c *client) hash(path string) string {
	c.t.Helper()
	a := c.call("read_file", args{"path": path})
	a.fine()
	return a.text("structuredContent", "hash")
}

// fine fails the test unless the call succeeded.
func (a answer) fine() {
	a.t.Helper()
	if servertest.Failed(&a.m) {
		a.t.Fatalf("it failed: %s", a.m.Bytes())
	}
}

// code returns the code of a failure from the envelope alone, or "" for a success.
func (a answer) code() string {
	if e := a.canonical(); e.Present() {
		s, _ := e.Path("code").Str()
		return s
	}
	return ""
}

// is checks that the call failed with this code.
func (a answer) is(code string) {
	a.t.Helper()
	if got := a.code(); got != code {
		a.t.Errorf("%q is not %s: %s", got, code, a.m.Bytes())
	}
}

// canonical returns the canonical error.
func (a answer) canonical() wire.Value { return servertest.Canonical(&a.m) }

// system returns the envelope of the system-error dialect.
func (a answer) system() wire.Value {
	a.t.Helper()
	return servertest.Envelope(a.t, &a.m)
}

// text returns the string at a path in the result.
func (a answer) text(path ...any) string {
	s, _ := a.m.Result().Path(path...).Str()
	return s
}

// ref returns the reference of a failure.
func (a answer) ref() string {
	s, _ := a.canonical().Path("ref").Str()
	return s
}

// stdio is a server that runs as a child process.
type stdio struct {
	client
	*servertest.Server
}

// start starts the server over standard input and output and initializes the connection.
func (p *env) start(flags ...string) *stdio {
	p.t.Helper()
	s := p.prepare(flags...)
	s.Start()
	return s
}

// launch starts the server without initializing the connection.
func (p *env) launch(flags ...string) *stdio {
	p.t.Helper()
	s := p.prepare(flags...)
	p.must(s.StartWith((*exec.Cmd).Start))
	return s
}

// prepare creates the command of the server, which a test may modify before it runs.
func (p *env) prepare(flags ...string) *stdio {
	s := &stdio{Server: servertest.Command(p.t, binary, append([]string{"workbench", "kaiza", "--root", p.root, "--state", p.state}, append(flags, p.flags...)...)...)}
	s.client = client{t: p.t, p: p, ask: s.Ask, stop: func() { s.End() }}
	s.Cmd.Env, p.last = append(s.Cmd.Env, p.env...), s
	return s
}
