package doctor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
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
	p := &running{}
	cmd := exec.Command(path, line[1:]...) //nolint:noctx // Close stops it; the user named the command in the configuration
	cmd.Args[0], cmd.Env, cmd.Dir = line[0], s.env, s.dir
	p.Stdio, err = mcpclient.Start(cmd, mcpclient.StdioOptions{MaxStderr: maxTail, Start: func(cmd *exec.Cmd) (_ mcpclient.Process, err error) {
		p.runs, err = guard.Start(cmd, guard.Options{Self: e.Guard})
		return p.runs, err
	}})
	if err != nil {
		f := failed("server-start", fmt.Sprintf("%s cannot be started: %s", line[0], cause(errors.Unwrap(err))), "run the command in a shell")
		return answers{}, &f
	}
	client := mcpclient.NewClient(p, clientName, p.hear)
	defer client.Close(true)
	found, asked, err := handshake(ctx, client)
	if err == nil {
		return found, p.noise()
	}
	f := e.startFault(ctx, p, asked, err)
	return answers{}, &f
}

func firstWord(line []string) string {
	if len(line) == 0 {
		return ""
	}
	return line[0]
}

// startFault explains why the conversation with a started server failed.
func (e *examination) startFault(ctx context.Context, p *running, asked string, err error) Finding {
	f, isFault := errors.AsType[fault](err)
	switch {
	case isFault:
		return f.Finding
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed("server-silent", fmt.Sprintf("started, but did not answer %s within %s%s", asked, e.Timeout, p.lastWords()),
			"run the command in a shell; a server that is downloaded at its first start may need --timeout 2m")
	}
	status := "it closed its standard output"
	if p.Ended(time.Second) {
		status = p.runs.End().String()
	}
	return failed("server-exited", fmt.Sprintf("ended before it answered %s: %s%s", asked, status, p.lastWords()), "run the command in a shell and correct what it reports")
}

// running is a started server.
type running struct {
	*mcpclient.Stdio
	runs *guard.Process

	mu    sync.Mutex
	stray string // the first line of output that is not a message; guarded by mu
}

// maxTail bounds the end of standard error that is kept.
const maxTail = 8 << 10

// hear remembers output that is not a message. A server may send notifications and requests.
func (p *running) hear(m mcpclient.Message, parsed *wire.Message) {
	if parsed.Kind() != wire.KindMalformed {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stray == "" {
		if p.stray = string(m.Data); len(m.Data) > maxTail {
			p.stray = redact.Placeholder // a cut may be within a secret
		}
	}
}

// noise returns a warning if the server has written other things than messages to its standard output.
func (p *running) noise() *Finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stray == "" {
		return nil
	}
	f := warning("server-noise", "answers, but writes other text to its standard output: "+shown(p.stray),
		"let the server write logs to its standard error; many clients end the connection at such a line")
	return &f
}

// lastWords returns the last line of standard error, without secrets. A line whose beginning was dropped may begin within one.
func (p *running) lastWords() string {
	text, cut := p.Stderr.Text()
	if _, rest, found := strings.Cut(text, "\n"); cut && found {
		text = rest
	} else if cut {
		text = redact.Placeholder
	}
	text = strings.TrimSpace(redact.Policy{KeepPaths: true}.Text(text)) // before the last line is cut off, because its label may be in the line before
	if text == "" {
		return ""
	}
	return "; it wrote: " + shown(text[strings.LastIndexByte(text, '\n')+1:])
}

// shown returns text of a server without secrets and control characters, in one line.
func shown(text string) string {
	text = strings.Join(strings.Fields(redact.Policy{KeepPaths: true}.Text(text)), " ")
	return truncate.Text(text, 200)
}
