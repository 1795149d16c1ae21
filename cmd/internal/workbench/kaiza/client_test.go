package kaiza_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

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
	if failed, _ := a.m.Result().Path("isError").Bool(); failed || a.m.Error().Present() {
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
func (a answer) canonical() wire.Value {
	if a.m.Error().Present() {
		return a.m.Error().Path("data", "dev.candor/error")
	}
	return a.m.Result().Path("_meta", "dev.candor/error")
}

// system returns the envelope of the system-error dialect, parsed from the first content block.
func (a answer) system() wire.Value {
	a.t.Helper()
	if a.m.Error().Present() {
		return a.m.Error().Path("data")
	}
	text, _ := a.m.Result().Path("content", 0, "text").Str()
	v, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		a.t.Fatalf("the first block is no envelope: %s", a.m.Bytes())
	}
	return v
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
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	said  *bytes.Buffer // standard error; read it only after the end
	next  int
	once  sync.Once
}

const patience = 60 * time.Second // generous, for a loaded machine; tests do not measure time

// start starts the server over standard input and output and initializes the connection.
func (p *env) start(flags ...string) *stdio {
	p.t.Helper()
	s := p.launch(flags...)
	s.greet()
	return s
}

// launch starts the server without initializing the connection.
func (p *env) launch(flags ...string) *stdio {
	p.t.Helper()
	s := p.prepare(flags...)
	s.run()
	return s
}

// prepare creates the command of the server, which a test may modify before it runs.
func (p *env) prepare(flags ...string) *stdio {
	s := &stdio{client: client{t: p.t, p: p}, said: new(bytes.Buffer)}
	s.cmd = exec.Command(binary, append([]string{"workbench", "kaiza", "--root", p.root, "--state", p.state}, append(flags, p.flags...)...)...)
	s.cmd.Env = append(os.Environ(), p.env...)
	s.cmd.Stderr = s.said
	return s
}

// run starts the prepared command.
func (s *stdio) run() {
	s.t.Helper()
	if err := s.runBy((*exec.Cmd).Start); err != nil {
		s.t.Fatal(err)
	}
}

// runBy starts the command with the given function.
func (s *stdio) runBy(start func(*exec.Cmd) error) error {
	s.t.Helper()
	in, err := s.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.in, s.lines = in, bufio.NewReaderSize(out, 1<<20)
	if err := start(s.cmd); err != nil {
		return err
	}
	s.ask = s.request
	s.client.stop = func() { s.end() }
	s.t.Cleanup(func() { s.kill() })
	return nil
}

// greet initializes the connection.
func (s *stdio) greet() {
	s.t.Helper()
	s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	s.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// say sends a line.
func (s *stdio) say(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatalf("writing: %v", err)
	}
}

// hear returns the next line.
func (s *stdio) hear() wire.Message {
	s.t.Helper()
	type heard struct {
		line []byte
		err  error
	}
	got := make(chan heard, 1)
	go func() { line, err := s.lines.ReadBytes('\n'); got <- heard{line, err} }()
	select {
	case h := <-got:
		if h.err != nil {
			s.kill()
			s.t.Fatalf("the server ended: %v; it said %s", h.err, s.said)
		}
		return wire.Parse(bytes.TrimRight(h.line, "\n"), wire.Limits{})
	case <-time.After(patience):
		s.kill()
		s.t.Fatalf("no answer; it said %s", s.said)
	}
	return wire.Message{}
}

// request sends a request and returns its answer.
func (s *stdio) request(method, params string) wire.Message {
	s.t.Helper()
	s.next++
	s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.next, method, params))
	for {
		m := s.hear()
		if strings.TrimSpace(string(m.ID())) == fmt.Sprint(s.next) || len(m.ID()) == 0 && m.Error().Present() {
			return m
		}
	}
}

// end closes the input and returns the exit code.
func (s *stdio) end() int {
	s.once.Do(func() {
		_ = s.in.Close()
		_, _ = io.Copy(io.Discard, s.lines)
		_ = s.cmd.Wait()
	})
	return s.cmd.ProcessState.ExitCode()
}

// kill sends SIGKILL and waits for the exit.
func (s *stdio) kill() {
	s.once.Do(func() {
		_ = s.cmd.Process.Signal(syscall.SIGKILL)
		_, _ = io.Copy(io.Discard, s.lines)
		_ = s.cmd.Wait()
	})
}
