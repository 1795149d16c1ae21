package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
	"github.com/candor-mcp/candor/serve"
	"github.com/candor-mcp/candor/wire"
)

// serveVariable makes the test binary a server.
const serveVariable = "SERVE_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == "" {
		os.Exit(m.Run())
	}
	if err := serve.Stdio(context.Background(), failingServer(), serve.Config{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// opened is the line that a tool prints to standard error when it is running.
const opened = "a tool is running"

// failingServer returns a server with a tool for each way in which a call can end, or not end.
func failingServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "failing", Version: "1"}, nil)
	tool := func(name string, handle func(ctx context.Context) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			r, err := handle(ctx)
			return r, nil, err
		})
	}
	tool("fails", func(context.Context) (*mcp.CallToolResult, error) { return nil, errors.New("the disk is on fire") })
	tool("panics", func(context.Context) (*mcp.CallToolResult, error) { return nil, fmt.Errorf("%d", deep(5)) })
	tool("waits", func(ctx context.Context) (*mcp.CallToolResult, error) { // until it is cancelled
		fmt.Fprintln(os.Stderr, opened)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	tool("held", func(ctx context.Context) (*mcp.CallToolResult, error) { // until the test releases it
		let := make(chan os.Signal, 1)
		signal.Notify(let, releaseSignal)
		fmt.Fprintln(os.Stderr, opened)
		select {
		case <-let:
			return nil, errors.New("the disk is on fire")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	tool("deaf", func(context.Context) (*mcp.CallToolResult, error) { // ignores its context and never returns
		fmt.Fprintln(os.Stderr, opened)
		select {}
	})
	return s
}

// deep panics below n stack frames.
//
//go:noinline
func deep(n int) int {
	if n == 0 {
		return 1 / n
	}
	return deep(n-1) + 1
}

// process is a running server process.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	home    string // its HOME; the ledger is in home/ledger unless the environment sets another directory
	in      io.WriteCloser
	out     io.ReadCloser
	lines   *bufio.Scanner // lines of out
	printed *prints        // output on standard error
	asked   int
}

// command returns a command for a server with only the settings in environment.
func command(t *testing.T, home string, environment ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "MCP_") && !strings.HasPrefix(name, "CANDOR_") &&
			!strings.HasPrefix(name, "XDG_") && name != "DEBUG_STACK" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, serveVariable+"=1", "HOME="+home, "CANDOR_LEDGER="+ledgerOf(home),
		"GORACE=atexit_sleep_ms=0") // the race detector would delay each exit by a second
	cmd.Env = append(cmd.Env, environment...)
	return cmd
}

func ledgerOf(home string) string { return home + "/ledger" }

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"t","version":"1"}}}`

// stdio starts a server on standard input and output, and initializes the session.
func stdio(t *testing.T, home string, environment ...string) *process {
	t.Helper()
	p := launch(t, command(t, home, environment...))
	p.home = home
	p.say(hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, printed: &prints{more: make(chan struct{}, 1)}}
	cmd.Stderr = p.printed
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if p.out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(p.out)
	p.lines.Buffer(nil, 16<<20)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // has no effect after Wait
	return p
}

func (p *process) say(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatalf("%v; it printed %s", err, p.printed)
	}
}

// request sends a request without waiting and returns its id.
func (p *process) request(method, params string) string {
	p.t.Helper()
	p.asked++
	id := fmt.Sprint(p.asked)
	p.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return id
}

func call(tool string) string { return `{"name":"` + tool + `","arguments":{}}` }

// next reads one answer.
func (p *process) next() wire.Message {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatalf("the server says no more (%v); it printed %s", p.lines.Err(), p.printed)
	}
	return wire.Parse(bytes.Clone(p.lines.Bytes()), wire.Limits{})
}

// answer reads until the answer with that id.
func (p *process) answer(id string) wire.Message {
	p.t.Helper()
	for {
		if m := p.next(); string(m.ID()) == id {
			return m
		}
	}
}

// ask sends a request and waits for its answer.
func (p *process) ask(method, params string) wire.Message {
	p.t.Helper()
	return p.answer(p.request(method, params))
}

// fail calls the failing tool n times.
func (p *process) fail(n int) {
	p.t.Helper()
	for range n {
		m := p.ask("tools/call", call("fails"))
		if refOf(&m) == "" {
			p.t.Errorf("no ref in %s", m.Bytes())
		}
	}
}

// refOf returns the ref of the envelope in an answer of any transport, or "".
func refOf(m *wire.Message) string {
	if ref, ok := m.Result().Path("_meta", "dev.candor/error", "ref").Str(); ok {
		return ref
	}
	ref, _ := m.Error().Path("data", "dev.candor/error", "ref").Str()
	return ref
}

// rest returns the remaining answers until the server closes its output.
func (p *process) rest() (all []wire.Message) {
	for p.lines.Scan() {
		all = append(all, wire.Parse(bytes.Clone(p.lines.Bytes()), wire.Limits{}))
	}
	return all
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ended waits until the process has exited and returns the exit code. It discards the remaining output.
func (p *process) ended() int {
	p.t.Helper()
	_, _ = io.Copy(io.Discard, p.out) // Wait requires that the output was read
	err := p.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// endsWell checks that the process exits with code 0.
func (p *process) endsWell() {
	p.t.Helper()
	if code := p.ended(); code != 0 {
		p.t.Errorf("ended with %d: %s", code, p.printed)
	}
}

// stop ends the server by closing its input.
func (p *process) stop() {
	p.t.Helper()
	if err := p.in.Close(); err != nil {
		p.t.Error(err)
	}
	p.endsWell()
}

// prints collects the output of a process.
type prints struct {
	mu   sync.Mutex
	text []byte
	more chan struct{}
}

func (w *prints) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.text = append(w.text, b...)
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (w *prints) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

// await waits until a text was printed the given number of times. It has no timeout other than that of the test.
func (w *prints) await(text string, times int) {
	for strings.Count(w.String(), text) < times {
		<-w.more
	}
}

// recorded returns the number of failures with each ref in a ledger.
func recorded(t *testing.T, dir string) map[string]int {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	refs := map[string]int{}
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind != ledger.KindFailure {
			continue
		}
		record, err := line.Record()
		if err != nil {
			t.Fatal(err)
		}
		refs[record.Ref]++
	}
	return refs
}

// verified checks that the ledger passes verification.
func verified(t *testing.T, dir string) verify.Report {
	t.Helper()
	report, err := verify.Dir(context.Background(), dir, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, harm := range report.Damage {
		t.Errorf("harm: %s", harm)
	}
	return report
}
