package chaos

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/scripted"
	"github.com/candor-mcp/candor/internal/tail"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/wire"
)

// program is a running candor-cluster.
type program struct {
	t       *testing.T
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	said    *tail.Tail
	done    chan struct{}
}

// startProgram starts candor-cluster with a home directory of its own.
func startProgram(t *testing.T, home string, args ...string) *program {
	t.Helper()
	p := &program{t: t, said: &tail.Tail{N: 1 << 20}, done: make(chan struct{})}
	p.command = exec.Command(os.Args[0], args...)
	p.command.Dir, p.command.Stderr = home, p.said
	p.command.Env = append(os.Environ(), roleVariable+"="+roleProgram, "HOME="+home, "XDG_STATE_HOME=")
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if p.stdout, err = p.command.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	return p
}

// wait waits for the end of the process and returns its exit code.
func (p *program) wait() int {
	p.t.Helper()
	_, _ = io.Copy(io.Discard, p.stdout) // Wait requires that the output is read
	limit := time.AfterFunc(2*time.Minute, func() { _ = p.command.Process.Kill() })
	defer limit.Stop()
	_ = p.command.Wait() // the exit code says it
	return p.command.ProcessState.ExitCode()
}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		p.t.Fatalf("%v; it said %s", err, p.said)
	}
}

// gateway is a gateway process in front of one server.
type gateway struct {
	*program
	address, admin string
}

var (
	listensAt = regexp.MustCompile(`listening on http://(\S+)`)
	adminAt   = regexp.MustCompile(`metrics on (http://\S+)/healthz`)
)

// startGateway starts a gateway that records in a ledger, which may be a URL, and waits until it listens.
func startGateway(t *testing.T, home, ledger, upstream string) *gateway {
	t.Helper()
	g := &gateway{program: startProgram(t, home, "gateway", "--upstream", "it="+upstream, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--ledger", ledger, "--witness-copy", "none")}
	wait.For(t, "the gateway to listen", func() error {
		text := g.said.String()
		listens, admin := listensAt.FindStringSubmatch(text), adminAt.FindStringSubmatch(text)
		if listens == nil || admin == nil {
			return fmt.Errorf("it said %s", text)
		}
		g.address, g.admin = listens[1], admin[1]
		return nil
	})
	return g
}

// get reads a page of the admin address.
func (g *gateway) get(ctx context.Context, page string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.admin+page, nil)
	if err != nil {
		return "", err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return string(text), err
}

// metric returns the sum of a metric over all labels.
func (g *gateway) metric(name string) int {
	g.t.Helper()
	page, err := g.get(g.t.Context(), "/metrics")
	if err != nil {
		g.t.Fatal(err)
	}
	sum := 0.0
	for _, line := range strings.Split(page, "\n") {
		rest, found := strings.CutPrefix(line, name)
		if !found || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			g.t.Fatal(err)
		}
		sum += value
	}
	return int(sum)
}

// failingServer is an MCP server over HTTP on which every call fails: with an error result, or without an answer while it is dead.
type failingServer struct {
	*httptest.Server
	dead  atomic.Bool
	calls atomic.Int64
}

func newFailingServer(t *testing.T) *failingServer {
	t.Helper()
	s := &failingServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *failingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.dead.Load() {
		panic(http.ErrAbortHandler) // closes the connection without an answer
	}
	(&scripted.Server{Name: "f", Tools: `{"name":"fail","inputSchema":{"type":"object"}}`, Script: s.answer}).ServeHTTP(w, r)
}

func (s *failingServer) answer(m *wire.Message) (string, bool) {
	if !m.MethodIs("tools/call") {
		return "", false
	}
	s.calls.Add(1)
	return scripted.Text("Error: rate limit exceeded", true), true
}
