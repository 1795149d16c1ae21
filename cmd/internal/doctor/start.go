package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// maxAtOnce bounds the servers that are tried at the same time.
const maxAtOnce = 4

// serverCheck starts each server, or connects to it, and requests its tools.
func (e *examination) serverCheck(ctx context.Context) []Finding {
	servers := e.servers()
	if len(servers) == 0 {
		return one(skipped("no server is configured; name a file with --config or --from, or a server after --"))
	}
	findings := make([]Finding, len(servers))
	slots := make(chan struct{}, maxAtOnce)
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			findings[i] = e.try(ctx, s).about(s.label)
		})
	}
	all.Wait()
	return findings
}

// try returns the finding for one server.
func (e *examination) try(ctx context.Context, s target) Finding {
	switch {
	case s.off:
		return skipped("not started: " + s.skip)
	case s.url == nil && len(s.line) == 0:
		return failed("address-invalid", "the url of the entry is not an address", "write an address such as https://example.com/mcp")
	case e.NoStart:
		return skipped("not started, because of --no-start")
	case s.skip != "":
		return skipped("not started: " + s.skip)
	}
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	began := time.Now()
	var found answers
	var fault *Finding
	if s.url != nil {
		found, fault = connect(ctx, s)
	} else {
		found, fault = e.start(ctx, s)
	}
	if fault != nil {
		return *fault
	}
	return ok(found.words(time.Since(began)))
}

// start runs a server and talks to it. All its processes have ended when start returns.
func (e *examination) start(ctx context.Context, s target) (answers, *Finding) {
	line, _ := clientconfig.Unwrap(s.line)
	path, err := lookPath(s.inFolder(firstWord(line)), s.path.list)
	if err != nil || s.noFolder() {
		f := skipped("not started: its command or its folder was not found")
		return answers{}, &f
	}
	p, err := launch(path, line, s, e.Guard)
	if err != nil {
		f := failed("server-start", fmt.Sprintf("%s cannot be started: %s", line[0], cause(err)), "run the command in a shell")
		return answers{}, &f
	}
	defer p.end()
	found, err := handshake(ctx, p)
	if err == nil {
		return found, p.noise()
	}
	f := e.startFault(ctx, p, err)
	return answers{}, &f
}

func firstWord(line []string) string {
	if len(line) == 0 {
		return ""
	}
	return line[0]
}

// startFault explains why the conversation with a started server failed.
func (e *examination) startFault(ctx context.Context, p *running, err error) Finding {
	answer, isAnswer := errors.AsType[*answerError](err)
	switch {
	case isAnswer:
		return answer.finding()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed("server-silent", fmt.Sprintf("started, but did not answer %s within %s%s", p.asked, e.Timeout, p.lastWords()),
			"run the command in a shell; a server that is downloaded at its first start may need --timeout 2m")
	}
	select {
	case <-p.runs.Done():
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	p.quiet()
	return failed("server-exited", fmt.Sprintf("ended before it answered %s: %s%s", p.asked, p.status(), p.lastWords()), "run the command in a shell and correct what it reports")
}

// running is a started server.
type running struct {
	runs    *guard.Process
	in, out *os.File
	lines   *framing.LineReader
	asked   string // the method of the last request
	stray   string // the first line of output that is not a message
	stderr  stderrTail
	silent  chan struct{} // closed at the end of standard error
}

// launch starts the process. The pipes are files, so that waiting does not depend on processes that inherited them.
func launch(path string, line []string, s target, self []string) (*running, error) {
	var files [6]*os.File
	var err error
	for i := 0; i < len(files) && err == nil; i += 2 {
		files[i], files[i+1], err = os.Pipe()
	}
	p := &running{silent: make(chan struct{})}
	if err == nil {
		cmd := exec.Command(path, line[1:]...) //nolint:noctx // end stops it; the user named the command in the configuration
		cmd.Args[0], cmd.Env, cmd.Dir = line[0], s.env, s.dir
		cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
		p.runs, err = guard.Start(cmd, guard.Options{Self: self})
	}
	for _, theirs := range []int{0, 3, 5} {
		_ = files[theirs].Close() // the server has copies
	}
	if err != nil {
		for _, ours := range []int{1, 2, 4} {
			_ = files[ours].Close()
		}
		return nil, err
	}
	p.in, p.out = files[1], files[2]
	p.lines = framing.NewLineReader(p.out, wire.Limits{MaxBytes: maxMessage})
	go func() {
		defer close(p.silent)
		_, _ = io.Copy(&p.stderr, files[4]) // ends with the process, see end
		_ = files[4].Close()
	}()
	go func() {
		<-p.runs.Done()
		soon := time.Now().Add(drainTimeout)
		_, _ = p.out.SetReadDeadline(soon), files[4].SetReadDeadline(soon) // errors mean that they are closed
	}()
	return p, nil
}

const (
	maxMessage   = 16 << 20
	drainTimeout = 250 * time.Millisecond
)

// request sends a request and returns its answer. Other messages are skipped: a server may send notifications and requests.
func (p *running) request(ctx context.Context, id int, method, params string) ([]byte, error) {
	p.asked = method
	stop := context.AfterFunc(ctx, func() { _, _ = p.out.SetReadDeadline(time.Now()), p.in.SetWriteDeadline(time.Now()) })
	defer stop()
	if err := p.write(message(id, method, params)); err != nil {
		return nil, err
	}
	for range maxSkipped {
		line, err := p.lines.Next()
		if err != nil {
			return nil, err
		}
		if line.Flaw != wireflaw.None || !bytes.HasPrefix(bytes.TrimLeft(line.Bytes, " \t"), []byte("{")) {
			if p.stray == "" {
				p.stray = string(line.Bytes[:min(len(line.Bytes), 200)])
			}
			continue
		}
		if isAnswer(line.Bytes, id) {
			return bytes.Clone(line.Bytes), nil
		}
	}
	return nil, errTooMany
}

// maxSkipped bounds the messages before an answer.
const maxSkipped = 10_000

var errTooMany = errors.New("too many other messages before the answer")

// agree does nothing: only HTTP has a header for the version.
func (p *running) agree(string) {}

func (p *running) notify(_ context.Context, method string) error {
	return p.write(notification(method))
}

func (p *running) write(text string) error {
	_, err := p.in.WriteString(text + "\n")
	return err
}

// noise returns a warning if the server has written other things than messages to its standard output.
func (p *running) noise() *Finding {
	if p.stray == "" {
		return nil
	}
	f := warning("server-noise", "answers, but writes other text to its standard output: "+shown(p.stray),
		"let the server write logs to its standard error; many clients end the connection at such a line")
	return &f
}

// quiet waits briefly for the end of standard error.
func (p *running) quiet() {
	select {
	case <-p.silent:
	case <-time.After(time.Second):
	}
}

func (p *running) status() string {
	select {
	case <-p.runs.Done():
		return p.runs.End().String()
	default:
		return "it closed its standard output"
	}
}

// lastWords returns the last line of standard error, without secrets.
func (p *running) lastWords() string {
	text := strings.TrimSpace(p.stderr.text())
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "; it wrote: " + shown(lines[len(lines)-1])
}

// shown returns text of a server without secrets and control characters, in one line.
func shown(text string) string {
	text = strings.Join(strings.Fields(redact.Policy{KeepPaths: true}.Text(text)), " ")
	return truncate.Text(text, 200)
}

// How long a server gets to end by itself after its input was closed, and to end after SIGTERM.
const (
	endByItself = 500 * time.Millisecond
	endBySignal = 300 * time.Millisecond
)

// end ends the server with all processes that it has started, and waits for them.
func (p *running) end() {
	_ = p.in.Close()
	for _, step := range []struct {
		wait time.Duration
		then func()
	}{{endByItself, p.runs.Ask}, {endBySignal, p.runs.Kill}} {
		select {
		case <-p.runs.Done():
		case <-time.After(step.wait):
			step.then()
		}
	}
	p.runs.Kill()
	<-p.runs.Done()
	<-p.silent
	_ = p.out.Close()
}

// stderrTail keeps the end of a stream.
type stderrTail struct {
	mu   sync.Mutex
	kept []byte // guarded by mu
}

const maxTail = 8 << 10

// Write implements [io.Writer].
func (t *stderrTail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *stderrTail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
