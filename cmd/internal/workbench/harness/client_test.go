package harness_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// patience is the maximum wait for one answer on a loaded machine. No test measures time.
const patience = 5 * time.Minute

// setup configures a harness. The zero value starts the default domains in a new state directory, without a ledger.
type setup struct {
	env    []string // NAME=value, in addition to the environment of the test; HOME is always a new directory
	flags  []string // such as --domain kg
	state  string   // state directory; "" is a new one
	ledger bool     // record in the default directory, ledger in the state directory
	mcp    bool     // serve MCP instead of lines
	wrap   []string // flags of candor wrap, which runs the harness; nil runs it directly

	prepare func(*exec.Cmd) // changes the command before it is started
}

// harness is `candor workbench harness` as a child process.
type harness struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte // closed when the process closes its output
	said  lockedBuffer
	state string
	mcp   bool
	ready wire.Value // the ready line; only in line mode
	next  int
	once  sync.Once
}

// lockedBuffer collects standard error, which is written while the test reads.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// command returns the command line of a harness, not started.
func (s *setup) command(t testing.TB) *exec.Cmd {
	t.Helper()
	if s.state == "" {
		s.state = filepath.Join(t.TempDir(), "state")
	}
	line := []string{"workbench", "harness", "--state", s.state}
	if !s.ledger {
		line = append(line, "--ledger", "none")
	}
	if s.mcp {
		line = append(line, "--mcp")
		if !slices.Contains(s.flags, "--dialect") {
			line = append(line, "--dialect", "rpc") // in which both modes can be compared
		}
	}
	line = append(line, s.flags...)
	if s.wrap != nil {
		line = slices.Concat([]string{"wrap"}, s.wrap, []string{"--", binary}, line)
	}
	cmd := exec.Command(binary, line...)
	cmd.Env = append(append(os.Environ(), "HOME="+filepath.Join(s.state, "home")), s.env...)
	return cmd
}

// start starts a harness and waits until it is ready.
func start(t testing.TB, s setup) *harness {
	t.Helper()
	h := &harness{t: t, lines: make(chan []byte, 64), mcp: s.mcp, cmd: s.command(t)}
	h.state, h.cmd.Stderr = s.state, &h.said
	if s.prepare != nil {
		s.prepare(h.cmd)
	}
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go h.read(out)
	t.Cleanup(h.kill)
	h.greet()
	return h
}

// greet reads the ready line, or makes the handshake in MCP mode on the pipe.
func (h *harness) greet() {
	h.t.Helper()
	if slices.Contains(h.cmd.Args, "--listen") {
		return // clients use HTTP
	}
	if h.mcp {
		h.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
		h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		return
	}
	line := h.line()
	ready, err := wire.ParseValue(line, wire.Limits{})
	if err != nil || !ready.Path("type").Is("ready") {
		h.t.Fatalf("the first line is not the ready line: %s", line)
	}
	h.ready = ready
}

func (h *harness) read(out io.Reader) {
	defer close(h.lines)
	for r := bufio.NewReaderSize(out, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		h.lines <- bytes.TrimRight(line, "\n")
	}
}

// send writes one line.
func (h *harness) send(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatalf("writing: %v; the harness said %s", err, &h.said)
	}
}

var errEnded = errors.New("the harness ended")

// receive returns the next line.
func (h *harness) receive() ([]byte, error) {
	select {
	case line, ok := <-h.lines:
		if !ok {
			return nil, errEnded
		}
		checkListed(h.t, line)
		return line, nil
	case <-time.After(patience):
		return nil, errors.New("no answer")
	}
}

// line is receive for a harness that must answer.
func (h *harness) line() []byte {
	h.t.Helper()
	line, err := h.receive()
	if err != nil {
		h.kill()
		h.t.Fatalf("reading: %v; the harness said %s", err, &h.said)
	}
	return line
}

// ask sends a request and returns its answer. Answers to other requests are dropped.
func (h *harness) ask(method, params string) reply {
	h.t.Helper()
	h.next++
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, h.next, method, params))
	for {
		if m := wire.Parse(h.line(), wire.Limits{}); strings.TrimSpace(string(m.ID())) == fmt.Sprint(h.next) {
			return reply{h.t, m}
		}
	}
}

// call calls a method of a domain, in MCP mode as a tool. params is a JSON object.
func (h *harness) call(method, params string) reply {
	h.t.Helper()
	if !h.mcp {
		return h.ask(method, params)
	}
	return h.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, strings.ReplaceAll(method, "/", "_"), params))
}

// end closes the input, waits for the process and returns its exit code.
func (h *harness) end() int { return h.finish(func() { _ = h.in.Close() }) }

// kill sends SIGKILL and waits for the process.
func (h *harness) kill() { h.finish(func() { _ = h.cmd.Process.Kill() }) }

// stop sends a signal, waits for the process and returns its exit code.
func (h *harness) stop(signal os.Signal) int {
	return h.finish(func() { _ = h.cmd.Process.Signal(signal) })
}

func (h *harness) finish(how func()) int {
	h.once.Do(func() {
		how()
		for range h.lines { // the pipe must be drained before Wait
		}
		_ = h.cmd.Wait()
	})
	return h.cmd.ProcessState.ExitCode()
}

// reply is the answer to one request.
type reply struct {
	t testing.TB
	m wire.Message
}

// result requires a success and returns the result; for a tool, its structured content.
func (r reply) result() wire.Value {
	r.t.Helper()
	if r.m.Error().Present() {
		r.t.Fatalf("the call failed: %s", r.m.Bytes())
	}
	if structured, ok := r.m.Result().Get("structuredContent"); ok {
		return structured
	}
	return r.m.Result()
}

// number returns the code of the error, 0 for a success.
func (r reply) number() int64 {
	n, _ := r.m.Error().Path("code").Int64()
	return n
}

// code returns the error as domain/SYMBOL, "" for a success.
func (r reply) code() string {
	domain, _ := r.m.Error().Path("data", "domain").Str()
	symbol, _ := r.m.Error().Path("data", "symbol").Str()
	if domain == "" && symbol == "" {
		return ""
	}
	return domain + "/" + symbol
}

// details returns data.details as JSON, "" if there are none.
func (r reply) details() string { return string(r.m.Error().Path("data", "details").Raw()) }

// fails requires an error with a number, as domain/SYMBOL, and with retryable.
func (r reply) fails(number int64, code string) reply {
	r.t.Helper()
	if r.number() != number || r.code() != code {
		r.t.Fatalf("want %d %s: %s", number, code, r.m.Bytes())
	}
	if _, ok := r.m.Error().Path("data", "retryable").Bool(); !ok {
		r.t.Fatalf("retryable is missing: %s", r.m.Bytes())
	}
	return r
}
