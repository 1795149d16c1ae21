package dual_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
	"github.com/candor-mcp/candor/wire"
)

type args = map[string]any

// patience is the maximum wait for one answer on a loaded machine. No test measures time.
const patience = 60 * time.Second

// place is the state directory of servers, with a database and a trail.
type place struct {
	t     testing.TB
	state string
	flags []string        // for every server
	wrap  func(*exec.Cmd) // changes how servers are started; nil does nothing
}

func newPlace(t testing.TB, flags ...string) *place {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &place{t: t, state: filepath.Join(home, "state"), flags: flags}
}

// trail returns the directory of the ledger.
func (p *place) trail() string { return filepath.Join(p.state, "ledger") }

// sql changes the database directly, without the server.
func (p *place) sql(statement string, values ...any) {
	p.t.Helper()
	db, err := sqlitedb.Open(filepath.Join(p.state, "dual.db"), sqlitedb.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the statement has its own error
	result, err := db.Exec(statement, values...)
	if err != nil {
		p.t.Fatalf("%s: %v", statement, err)
	}
	if n, _ := result.RowsAffected(); n == 0 {
		p.t.Fatalf("%s changes nothing", statement)
	}
}

// hold keeps the write lock of the database until the returned function is called.
func (p *place) hold() (release func()) {
	p.t.Helper()
	db, err := sqlitedb.Open(filepath.Join(p.state, "dual.db"), sqlitedb.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		p.t.Fatal(err)
	}
	return func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
}

// server is the running program as a child process. Its methods except send must not be called concurrently.
type server struct {
	t    testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	said bytes.Buffer
	once sync.Once
	done chan struct{}

	mu      sync.Mutex
	next    int
	waiting map[string]chan wire.Message
}

var errEnded = errors.New("the server ended")

// start starts a server on the state of p and makes the handshake.
func (p *place) start(flags ...string) *server {
	p.t.Helper()
	s := &server{t: p.t, done: make(chan struct{}), waiting: map[string]chan wire.Message{}}
	s.cmd = exec.Command(binary, append([]string{"workbench", "dual", "--state", p.state, "--quiet"}, append(flags, p.flags...)...)...)
	s.cmd.Env, s.cmd.Stderr = os.Environ(), &s.said
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
	defer close(s.done)
	for r := bufio.NewReaderSize(out, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		m := wire.Parse(bytes.TrimRight(line, "\n"), wire.Limits{})
		id := strings.TrimSpace(string(m.ID()))
		s.mu.Lock()
		to := s.waiting[id]
		delete(s.waiting, id)
		s.mu.Unlock()
		if to != nil {
			to <- m
		}
	}
}

// send sends a request and returns a channel for its answer. It is safe for concurrent use.
func (s *server) send(method, params string) (<-chan wire.Message, error) {
	answer := make(chan wire.Message, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.waiting[fmt.Sprint(s.next)] = answer
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.next, method, params); err != nil {
		return nil, errEnded
	}
	return answer, nil
}

// await returns an answer. It returns an error if the server ended before it answered.
func (s *server) await(answer <-chan wire.Message) (wire.Message, error) {
	select {
	case m := <-answer:
		return m, nil
	case <-s.done:
		select {
		case m := <-answer:
			return m, nil
		default:
			return wire.Message{}, errEnded
		}
	case <-time.After(patience):
		return wire.Message{}, errors.New("no answer")
	}
}

func (s *server) try(method, params string) (wire.Message, error) {
	answer, err := s.send(method, params)
	if err != nil {
		return wire.Message{}, err
	}
	return s.await(answer)
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

// later calls a tool and returns a function that waits for the answer.
func (s *server) later(tool string, in any) func() answer {
	s.t.Helper()
	arriving, err := s.send("tools/call", callParams(s.t, tool, in))
	if err != nil {
		s.t.Fatal(err)
	}
	return func() answer {
		m, _ := s.await(arriving) // an empty message is neither a success nor a failure, so every check rejects it
		return answer{s.t, &m}
	}
}

// either returns the first answer of two calls, and a function that waits for the other one.
func either(a, b func() answer) (first answer, other func() answer) {
	answers := make(chan answer, 2)
	for _, wait := range []func() answer{a, b} {
		go func() { answers <- wait() }()
	}
	return <-answers, func() answer { return <-answers }
}

// end closes the input and waits for the server.
func (s *server) end() { s.finish(func() { _ = s.in.Close() }) }

// kill sends SIGKILL and waits for the server.
func (s *server) kill() { s.finish(func() { _ = s.cmd.Process.Kill() }) }

func (s *server) finish(how func()) {
	s.once.Do(func() {
		how()
		<-s.done // the pipe must be drained before Wait
		_ = s.cmd.Wait()
	})
}

// answer is the response to a call.
type answer struct {
	t testing.TB
	m *wire.Message
}

// envelope returns the envelope of the dialect from the first text block. structuredContent must be the same.
func (a answer) envelope() wire.Value {
	a.t.Helper()
	text, _ := a.m.Result().Path("content", 0, "text").Str()
	v, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		a.t.Fatalf("the first block is not an envelope: %.1500s", a.m.Bytes())
	}
	if structured := a.m.Result().Path("structuredContent").Raw(); string(structured) != text {
		a.t.Errorf("structuredContent is not the text:\n%s\n%s", structured, text)
	}
	return v
}

// marked reports whether isError is set.
func (a answer) marked() bool {
	is, _ := a.m.Result().Path("isError").Bool()
	return is
}

// fine requires a success and returns it.
func (a answer) fine() answer {
	a.t.Helper()
	e := a.envelope()
	if ok, _ := e.Path("ok").Bool(); !ok || a.marked() || !e.Path("data").Present() || a.canonical().Present() {
		a.t.Fatalf("it failed: %.1500s", a.m.Bytes())
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

// isA requires a failure in pattern A, with the code in HANDLER_ERROR unless it is INVALID_PARAMS.
func (a answer) isA(code string) answer {
	a.t.Helper()
	a.is(code)
	e := a.envelope()
	ok, isBool := e.Path("ok").Bool()
	shown, _ := e.Path("error", "code").Str()
	hidden, _ := e.Path("error", "details", "code").Str()
	message, _ := e.Path("error", "message").Str()
	switch {
	case !isBool || ok || !a.marked():
		a.t.Errorf("not pattern A: %.1500s", a.m.Bytes())
	case code == "INVALID_PARAMS" || code == "HANDLER_ERROR":
		if shown != code {
			a.t.Errorf("the code is shown as %s: %s", shown, e.Raw())
		}
	case shown != "HANDLER_ERROR" || hidden != code || !strings.HasPrefix(message, code+": "):
		a.t.Errorf("the code is shown as %s, %s, %q", shown, hidden, message)
	}
	return a
}

// isB requires a failure in pattern B.
func (a answer) isB(code string) answer {
	a.t.Helper()
	a.is(code)
	e := a.envelope()
	outer, _ := e.Path("ok").Bool()
	inner, isBool := e.Path("data", "ok").Bool()
	shown, _ := e.Path("data", "error", "code").Str()
	if !outer || !isBool || inner || shown != code || a.m.Result().Path("isError").Present() {
		a.t.Errorf("not pattern B with %s: %.1500s", code, a.m.Bytes())
	}
	return a
}

// data returns a string of a success.
func (a answer) data(path ...any) string {
	text, _ := a.value(path...).Str()
	return text
}

// value returns a value of a success.
func (a answer) value(path ...any) wire.Value {
	return a.m.Result().Path(append([]any{"structuredContent", "data"}, path...)...)
}

// number returns a number of a success.
func (a answer) number(path ...any) int64 {
	n, _ := a.value(path...).Int64()
	return n
}

// truth returns a boolean of a success.
func (a answer) truth(path ...any) bool {
	is, _ := a.value(path...).Bool()
	return is
}

// detail returns a value of the details of a failure.
func (a answer) detail(path ...any) wire.Value {
	return a.canonical().Path(append([]any{"details"}, path...)...)
}

// Common steps.

const missing = "00000000-0000-0000-0000-000000000000"

// task creates a task and returns its id.
func (s *server) task(more args) string {
	s.t.Helper()
	in := args{"title": "a task", "agent_id": "agent-1"}
	for k, v := range more {
		in[k] = v
	}
	return s.call("task_create", in).fine().data("id")
}

// think records a thought and returns the answer.
func (s *server) think(task string, more args) answer {
	s.t.Helper()
	in := args{"task_id": task, "type": "analysis", "agent_id": "agent-1", "content": "a thought"}
	for k, v := range more {
		in[k] = v
	}
	return s.call("thought_record", in)
}

// advance changes the status of a task step by step up to the given one.
func (s *server) advance(task, to string) {
	s.t.Helper()
	for _, status := range statuses[1:7] {
		s.call("task_update", args{"id": task, "status": status}).fine()
		if status == to {
			return
		}
	}
}

var statuses = []string{"INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE", "CANCELLED"}
