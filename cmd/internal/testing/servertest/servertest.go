// Package servertest runs a command of candor as a child process and talks to it as an MCP client does.
package servertest

import (
	"bufio"
	"bytes"
	"context"
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

// Timeout is the maximum wait for one answer on a loaded machine. No test measures time.
const Timeout = 60 * time.Second

// ErrEnded is the error for a request that the server did not answer before it ended.
var ErrEnded = errors.New("the server ended")

// Server is a server on standard input and output.
type Server struct {
	T      testing.TB
	Cmd    *exec.Cmd
	Stderr bytes.Buffer // read it only after the server has ended

	in     io.WriteCloser
	once   sync.Once
	others chan wire.Message // messages that answer no request of [Server.Send]; closed when the server has closed its output

	mu      sync.Mutex
	next    int
	waiting map[string]chan wire.Message
}

// Command returns a server that is not started yet, so that the test can change its command.
func Command(t testing.TB, binary string, args ...string) *Server {
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, args...) // the test itself ends the server
	s := &Server{T: t, Cmd: cmd, others: make(chan wire.Message, 64), waiting: map[string]chan wire.Message{}}
	s.Cmd.Env, s.Cmd.Stderr = Env(), &s.Stderr
	return s
}

// Env returns the environment of this process for a server. Most servers of a test end before they need a collection.
func Env() []string { return append(os.Environ(), "GOGC=400") }

// Start starts the server and initializes the connection.
func (s *Server) Start() {
	s.T.Helper()
	if err := s.StartWith((*exec.Cmd).Start); err != nil {
		s.T.Fatal(err)
	}
	s.Initialize()
}

// StartWith starts the server with a function, without initializing the connection. The server is killed when the test ends.
func (s *Server) StartWith(start func(*exec.Cmd) error) error {
	in, err := s.Cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := s.Cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := start(s.Cmd); err != nil {
		return err
	}
	s.in = in
	go s.read(out)
	s.T.Cleanup(s.Kill)
	return nil
}

// Initialize makes the handshake of MCP.
func (s *Server) Initialize() {
	s.T.Helper()
	s.Ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	s.Write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (s *Server) read(out io.Reader) {
	defer close(s.others)
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
		if to == nil {
			to = s.others
		}
		to <- m
	}
}

// Write sends a line.
func (s *Server) Write(line string) {
	s.T.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.T.Fatalf("writing: %v", err)
	}
}

// Next returns the next message that answers no request of [Server.Send], or [ErrEnded].
func (s *Server) Next() (wire.Message, error) {
	select {
	case m, ok := <-s.others:
		if !ok {
			return m, ErrEnded
		}
		return m, nil
	case <-time.After(Timeout):
		return wire.Message{}, errors.New("no answer")
	}
}

// Read is [Server.Next] for a server that must be alive.
func (s *Server) Read() wire.Message {
	s.T.Helper()
	m, err := s.Next()
	s.require("reading", err)
	return m
}

// Send sends a request and returns a channel for its answer. It is safe for concurrent use.
func (s *Server) Send(method, params string) (<-chan wire.Message, error) {
	answer := make(chan wire.Message, 1)
	s.mu.Lock()
	s.next++
	id := s.next
	s.waiting[fmt.Sprint(id)] = answer
	s.mu.Unlock()
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		return nil, ErrEnded
	}
	return answer, nil
}

// Await returns an answer, which may be an error without an id. It returns [ErrEnded] if the server ended before it answered.
func (s *Server) Await(answer <-chan wire.Message) (wire.Message, error) {
	timeout := time.After(Timeout)
	for {
		select {
		case m := <-answer:
			return m, nil
		case m, ok := <-s.others:
			if ok && len(m.ID()) == 0 && m.Error().Present() {
				return m, nil
			}
			if ok {
				continue
			}
			select {
			case m := <-answer:
				return m, nil
			default:
				return wire.Message{}, ErrEnded
			}
		case <-timeout:
			return wire.Message{}, errors.New("no answer")
		}
	}
}

// Try sends a request and returns its answer.
func (s *Server) Try(method, params string) (wire.Message, error) {
	answer, err := s.Send(method, params)
	if err != nil {
		return wire.Message{}, err
	}
	return s.Await(answer)
}

// Ask is [Server.Try] for a server that must be alive.
func (s *Server) Ask(method, params string) wire.Message {
	s.T.Helper()
	m, err := s.Try(method, params)
	s.require(method, err)
	return m
}

func (s *Server) require(doing string, err error) {
	s.T.Helper()
	if err != nil {
		s.Kill()
		s.T.Fatalf("%s: %v; standard error: %s", doing, err, &s.Stderr)
	}
}

// End closes the input, waits for the server and returns its exit code.
func (s *Server) End() int {
	s.finish(func() { _ = s.in.Close() })
	return s.Cmd.ProcessState.ExitCode()
}

// Kill sends SIGKILL and waits for the server.
func (s *Server) Kill() { s.finish(func() { _ = s.Cmd.Process.Kill() }) }

func (s *Server) finish(how func()) {
	s.once.Do(func() {
		how()
		for range s.others { // the pipe must be drained before Wait
		}
		_ = s.Cmd.Wait()
	})
}

// Listen starts a command that serves over HTTP and returns its URL. The command is killed when the test ends.
func Listen(t testing.TB, cmd *exec.Cmd) (url string) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	for lines := bufio.NewScanner(stderr); url == "" && lines.Scan(); {
		_, at, _ := strings.Cut(lines.Text(), "listening on ")
		url = strings.TrimSpace(at)
	}
	if url == "" {
		t.Fatal("the server does not listen")
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	return url
}

// CallParams returns the parameters of a call. The arguments are encoded as JSON.
func CallParams(t testing.TB, tool string, arguments any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Failed reports whether a message is an error or a result with isError.
func Failed(m *wire.Message) bool {
	is, _ := m.Result().Path("isError").Bool()
	return is || m.Error().Present()
}

// Canonical returns the canonical error of a failure; it is absent for a success.
func Canonical(m *wire.Message) wire.Value {
	if m.Error().Present() {
		return m.Error().Path("data", "dev.candor/error")
	}
	return m.Result().Path("_meta", "dev.candor/error")
}

// Envelope returns a failure as the dialect writes it, from the data of an error or from the first text block of a result.
func Envelope(t testing.TB, m *wire.Message) wire.Value {
	t.Helper()
	if m.Error().Present() {
		return m.Error().Path("data")
	}
	text, _ := m.Result().Path("content", 0, "text").Str()
	v, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		t.Fatalf("the first block is not an envelope: %.1500s", m.Bytes())
	}
	return v
}
