package workrail_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/wire"
)

type args = map[string]any

// patience is the maximum wait for one answer on a loaded machine. No test measures time.
const patience = 60 * time.Second

// server is the running program as a child process.
type server struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte // closed when the server has exited
	said  bytes.Buffer
	next  int
	once  sync.Once
}

var errEnded = errors.New("the server ended")

// start starts a server on the state of p and makes the handshake.
func (p *place) start(flags ...string) *server {
	p.t.Helper()
	s := &server{t: p.t, lines: make(chan []byte, 16)}
	line := append([]string{"workbench", "workrail", "--state", p.state, "--ledger", "none"}, append(flags, p.flags...)...)
	s.cmd = exec.Command(binary, line...)
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), p.env...), &s.said
	if p.wrap != nil {
		p.wrap(s.cmd)
	}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	s.in = in
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go s.read(out)
	p.t.Cleanup(s.kill)
	s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	if _, err := io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (s *server) read(out io.Reader) {
	defer close(s.lines)
	for r := bufio.NewReaderSize(out, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		s.lines <- line
	}
}

// try sends a request and returns its answer. It returns an error if the server ended before it answered.
func (s *server) try(method, params string) (wire.Message, error) {
	s.next++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.next, method, params); err != nil {
		return wire.Message{}, errEnded
	}
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return wire.Message{}, errEnded
			}
			if m := wire.Parse(bytes.TrimRight(line, "\n"), wire.Limits{}); strings.TrimSpace(string(m.ID())) == fmt.Sprint(s.next) {
				return m, nil
			}
		case <-timeout:
			return wire.Message{}, errors.New("no answer")
		}
	}
}

// ask is try for a server that must be alive.
func (s *server) ask(method, params string) wire.Message {
	s.t.Helper()
	m, err := s.try(method, params)
	if err != nil {
		s.kill()
		s.t.Fatalf("%s: %v; the server said %s", method, err, &s.said)
	}
	return m
}

func callParams(t testing.TB, tool string, in any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": tool, "arguments": in})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// call calls a tool. The arguments are encoded as JSON.
func (s *server) call(tool string, in any) answer {
	s.t.Helper()
	m := s.ask("tools/call", callParams(s.t, tool, in))
	return answer{s.t, &m}
}

// end closes the input and waits for the server.
func (s *server) end() { s.finish(func() { _ = s.in.Close() }) }

// kill sends SIGKILL and waits for the server.
func (s *server) kill() { s.finish(func() { _ = s.cmd.Process.Kill() }) }

func (s *server) finish(how func()) {
	s.once.Do(func() {
		how()
		for range s.lines { // the pipe must be drained before Wait
		}
		_ = s.cmd.Wait()
	})
}

// begin starts a workflow and returns the answer.
func (s *server) begin(workflow string, context args) answer {
	s.t.Helper()
	if context == nil {
		context = args{}
	}
	return s.call("start_workflow", args{"workflowId": workflow, "context": context}).fine()
}

// answer is the response to a call.
type answer struct {
	t testing.TB
	m *wire.Message
}

// failed reports whether the call failed.
func (a answer) failed() bool {
	is, _ := a.m.Result().Path("isError").Bool()
	return is || a.m.Error().Present()
}

// fine requires a success.
func (a answer) fine() answer {
	a.t.Helper()
	if a.failed() {
		a.t.Fatalf("it failed: %s", a.m.Bytes())
	}
	return a
}

// canonical returns the whole error.
func (a answer) canonical() wire.Value {
	if a.m.Error().Present() {
		return a.m.Error().Path("data", "dev.candor/error")
	}
	return a.m.Result().Path("_meta", "dev.candor/error")
}

// envelope returns the error in the form of the dialect, from the first text block.
func (a answer) envelope() wire.Value {
	a.t.Helper()
	if a.m.Error().Present() {
		return a.m.Error().Path("data")
	}
	text, _ := a.m.Result().Path("content", 0, "text").Str()
	v, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		a.t.Fatalf("the first block is not an envelope: %s", a.m.Bytes())
	}
	return v
}

// code returns the code of a failure; "" is a success.
func (a answer) code() string {
	code, _ := a.canonical().Path("code").Str()
	return code
}

// is requires a failure with a code.
func (a answer) is(code string) answer {
	a.t.Helper()
	if got := a.code(); got != code {
		a.t.Errorf("the code is %q, want %s: %.1500s", got, code, a.m.Bytes())
	}
	return a
}

// data returns a string of the structured content.
func (a answer) data(path ...any) string {
	text, _ := a.m.Result().Path(append([]any{"structuredContent"}, path...)...).Str()
	return text
}

// detail returns a string of the details of a failure.
func (a answer) detail(path ...any) string {
	text, _ := a.envelope().Path(append([]any{"details"}, path...)...).Str()
	return text
}

// token returns the token to continue with.
func (a answer) token() string {
	if retry := a.data("retryContinueToken"); retry != "" {
		return retry
	}
	return a.data("continueToken")
}

// kind requires a success of a kind.
func (a answer) kind(want string) answer {
	a.t.Helper()
	a.fine()
	if got := a.data("kind"); got != want {
		a.t.Fatalf("the answer is %q, want %q: %.1500s", got, want, a.m.Bytes())
	}
	return a
}
