package stdio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/testing/badserver"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "guard":
		os.Exit(guard.Main(os.Args[2:]))
	case os.Getenv(gatewayEnv) != "":
		os.Exit(gatewayMain())
	case os.Getenv(gatewaytest.ListEnv) != "":
		os.Exit(gatewaytest.ListMain())
	case os.Getenv(sdkEnv) != "":
		os.Exit(sdkMain())
	case badserver.Wanted():
		os.Exit(badserver.Main())
	case os.Getenv(WrapEnv) != "":
		os.Exit(wrapMain())
	case load.Wanted():
		os.Exit(load.Main())
	}
	os.Exit(m.Run())
}

// gatewayEnv makes the test binary a gateway in front of the bad server, which a test kills.
const gatewayEnv = "CANDOR_TEST_GATEWAY"

func gatewayMain() int {
	_ = os.Unsetenv(gatewayEnv)
	exit, err := Wrap(context.Background(), gateway.New(gateway.Options{}), Streams{In: os.Stdin, Out: os.Stdout}, badChild())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return exit.Code
}

// badChild returns the bad server behind a guard.
func badChild() Child {
	return Child{
		Command: os.Args[0], Env: append(os.Environ(), badserver.Env+"=server", "GORACE=atexit_sleep_ms=0"), Guard: []string{os.Args[0], "guard"},
		Grace: 500 * time.Millisecond,
	}
}

// session is a client in front of a wrapped server.
type session struct {
	t     *testing.T
	up    *gateway.Upstream
	books *gatewaytest.Books
	log   *gatewaytest.LockedBuffer
	stdin *os.File
	lines chan string // lines sent to the client
	ended chan struct{}
	exit  Exit
	err   error
	stop  context.CancelFunc

	released func()            // closes all streams
	held     map[string]string // answers that arrived while another was awaited, by id
}

// wrapped starts a session in which every call is forwarded, regardless of earlier failures.
func wrapped(t *testing.T, o gateway.Options, child Child) *session {
	t.Helper()
	o.Repeats.Off, o.Breaker.Off = true, true
	return wrappedAs(t, o, child)
}

// wrappedAs starts a session. The test's cleanup ends it and checks that no process remains.
func wrappedAs(t *testing.T, o gateway.Options, child Child) *session {
	t.Helper()
	s := &session{
		t: t, books: &gatewaytest.Books{}, log: &gatewaytest.LockedBuffer{}, lines: make(chan string, 1<<14), ended: make(chan struct{}), held: map[string]string{},
	}
	o.Ledger, o.Meter, o.Logger = s.books, s.books, slog.New(slog.NewTextHandler(s.log, nil))
	s.up = gateway.New(o)
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = inW
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	go func() {
		defer close(s.ended)
		s.exit, s.err = Wrap(ctx, s.up, Streams{In: inR, Out: outW}, child)
		_ = outW.Close()
	}()
	go s.collect(outR)
	s.released = func() {
		_ = inW.Close()
		stop()
		<-s.ended
		_, _ = inR.Close(), outR.Close()
	}
	t.Cleanup(s.released)
	return s
}

func (s *session) collect(r io.Reader) {
	defer close(s.lines)
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			s.lines <- strings.TrimSuffix(line, "\n")
		}
		if err != nil {
			return
		}
	}
}

func (s *session) send(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(s.stdin, line+"\n"); err != nil {
			s.t.Fatalf("the gateway does not read: %v", err)
		}
	}
}

func (s *session) call(id int, tool, arguments string) {
	s.t.Helper()
	s.send(gatewaytest.ToolCall(id, tool, arguments))
}

// replyTo calls echo and returns the answer.
func (s *session) replyTo(id int) string {
	s.t.Helper()
	s.call(id, "echo", `{}`)
	return s.answer(strconv.Itoa(id))
}

// greet performs the handshake.
func (s *session) greet() {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.answer(`"hello"`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// next returns the next line sent to the client.
func (s *session) next() string {
	s.t.Helper()
	select {
	case line, ok := <-s.lines:
		if !ok {
			s.t.Fatalf("the gateway has ended (%+v, %v)\n%s", s.exit, s.err, s.log)
		}
		return line
	case <-time.After(gatewaytest.TooLong):
		s.t.Fatalf("nothing comes\n%s", s.log)
		return ""
	}
}

// answer returns the answer to the call with that id.
func (s *session) answer(id string) string {
	s.t.Helper()
	if line, ok := s.held[id]; ok {
		delete(s.held, id)
		return line
	}
	for {
		line := s.next()
		got, isAnswer := gatewaytest.IDOf(line)
		if got == id {
			return line
		}
		if isAnswer {
			if _, twice := s.held[got]; twice {
				s.t.Fatalf("%s was answered twice", got)
			}
			s.held[got] = line
		}
	}
}

// rest returns the lines sent to the client until the gateway ends.
func (s *session) rest() []string {
	s.t.Helper()
	var all []string
	for _, line := range s.held {
		all = append(all, line)
	}
	for line := range s.lines {
		all = append(all, line)
	}
	return all
}

// hangUp closes the client's side and waits for the gateway.
func (s *session) hangUp() Exit {
	s.t.Helper()
	_ = s.stdin.Close()
	return s.wait()
}

func (s *session) wait() Exit {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(gatewaytest.TooLong):
		s.t.Fatalf("the gateway does not end\n%s", s.log)
	}
	if s.err != nil {
		s.t.Fatal(s.err)
	}
	return s.exit
}

func listChild(kind string) Child {
	return Child{Command: os.Args[0], Env: append(os.Environ(), gatewaytest.ListEnv+"="+kind, "GORACE=atexit_sleep_ms=0"), Grace: 500 * time.Millisecond}
}
