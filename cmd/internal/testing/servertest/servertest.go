// Package servertest runs a command of candor as a child process and talks to it as an MCP client does.
package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/tail"
	"github.com/candor-mcp/candor/wire"
)

// Timeout is the maximum wait for one answer on a loaded machine. No test measures time.
const Timeout = 5 * time.Minute

// ErrEnded is the error for a request that the server did not answer before it ended.
var ErrEnded = mcpclient.ErrEnded

// Server is a server on standard input and output.
type Server struct {
	T      testing.TB
	Cmd    *exec.Cmd
	Stderr tail.Tail

	in     io.WriteCloser
	once   sync.Once
	client *mcpclient.Client
	others chan wire.Message // messages that answer no request of [Server.Send]; closed when the server has closed its output
}

// Command returns a server that is not started yet, so that the test can change its command.
func Command(t testing.TB, binary string, args ...string) *Server {
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, args...) // the test itself ends the server
	s := &Server{T: t, Cmd: cmd, Stderr: tail.Tail{N: 1 << 20}, others: make(chan wire.Message, 64)}
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
	s.client = mcpclient.NewClient(mcpclient.NewPipe(out, in, 0), "test", func(_ mcpclient.Message, m *wire.Message) { s.others <- *m })
	go func() { <-s.client.Ended(); close(s.others) }()
	s.T.Cleanup(s.Kill)
	return nil
}

// Initialize makes the handshake of MCP.
func (s *Server) Initialize() {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.T.Context()), Timeout)
	defer cancel()
	_, err := s.client.Initialize(ctx)
	s.require("initialize", err)
}

// Write sends a line.
func (s *Server) Write(line string) {
	s.T.Helper()
	if err := s.client.Send(s.T.Context(), 0, []byte(line)); err != nil {
		s.T.Fatal(err)
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
func (s *Server) Send(method, params string) <-chan mcpclient.Answer {
	return s.client.Go(context.Background(), method, params)
}

// Await returns an answer, which may be an error without an id. It returns [ErrEnded] if the server ended before it answered.
func (s *Server) Await(answer <-chan mcpclient.Answer) (wire.Message, error) {
	timeout, others := time.After(Timeout), s.others
	for {
		select {
		case a := <-answer:
			if a.Err != nil {
				return wire.Message{}, ErrEnded
			}
			return a.Message, nil
		case m, ok := <-others:
			if ok && len(m.ID()) == 0 && m.Error().Present() {
				return m, nil
			}
			if !ok {
				others = nil // the answer is there, or says that the server ended
			}
		case <-timeout:
			return wire.Message{}, errors.New("no answer")
		}
	}
}

// Try sends a request and returns its answer.
func (s *Server) Try(method, params string) (wire.Message, error) {
	return s.Await(s.Send(method, params))
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
