package stdio

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/guard"
)

// Child says which server is started, and how it is kept.
type Child struct {
	Command string   // a path, or a name that is looked up in the gateway's own PATH
	Args    []string // without the command itself
	Env     []string // nil is that of the gateway
	Dir     string   // "" is that of the gateway

	// Stderr receives the server's standard error; nil discards it.
	Stderr io.Writer
	// RedactStderr removes secrets and control characters from Stderr, line by line. Paths stay, because the operator
	// reads it. Clients never see paths.
	RedactStderr bool

	// Guard is the command line that runs [Guard], without the server's own. With it nothing that the server has started outlives
	// the gateway, however either ends. Without it, and where there are no guards, only the server itself and its process group are seen to.
	Guard []string

	Restart RestartPolicy
	Grace   time.Duration // between asking the server to end and killing it; 0 is 5 seconds
	Drain   time.Duration // how long open calls may take after the client has hung up; 0 is 10 seconds
}

// RestartPolicy limits how often a server that ends is started again. The zero value never restarts it.
type RestartPolicy struct {
	Tries   int           // in the window; 0 is never
	Window  time.Duration // 0 is one minute
	Wait    time.Duration // before the first try, doubled for each that follows; 0 is 100 milliseconds
	MaxWait time.Duration // 0 is 10 seconds
}

// Fill replaces zero durations by their defaults.
func (c *Child) Fill() {
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	c.Drain = cmp.Or(c.Drain, 10*time.Second)
	c.Restart.Window = cmp.Or(c.Restart.Window, time.Minute)
	c.Restart.Wait = cmp.Or(c.Restart.Wait, 100*time.Millisecond)
	c.Restart.MaxWait = cmp.Or(c.Restart.MaxWait, 10*time.Second)
}

// StartError says that a server could not be started, and what to do about it.
type StartError struct {
	Command string
	Hint    string
	Err     error
}

// Error returns one line with the hint.
func (e *StartError) Error() string {
	return fmt.Sprintf("starting %q: %v (hint: %s)", e.Command, e.Err, e.Hint)
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Guard is what the program does whose command line is a [Child.Guard], with the arguments that follow it there. It returns the exit code
// for the process. Nothing that the server starts outlives the gateway or the server.
func Guard(args []string) int { return guard.Main(args) }

// process is a server that runs.
type process struct {
	stdin  *os.File
	stdout *os.File
	stderr *stderrTail
	runs   *guard.Process
	quiet  chan struct{} // closed when stderr is at its end
	done   chan struct{} // closed when it has ended; then status is known
	status Status
}

// start starts the server.
func (c *Child) start() (*process, error) {
	cmd, err := c.command()
	if err != nil {
		return nil, err
	}
	p := &process{stderr: &stderrTail{to: c.Stderr, redact: c.RedactStderr, secrets: gateway.CommandSecrets(c.Env, c.Args)}, quiet: make(chan struct{}), done: make(chan struct{})}
	var pipes pipes
	stdinR, stdinW := pipes.make()
	stdoutR, stdoutW := pipes.make()
	stderrR, stderrW := pipes.make()
	if pipes.err != nil {
		pipes.close()
		return nil, fmt.Errorf("making pipes for the server: %w", pipes.err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdinR, stdoutW, stderrW
	p.stdin, p.stdout = stdinW, stdoutR
	if p.runs, err = guard.Start(cmd, guard.Options{Self: c.Guard}); err != nil {
		pipes.close()
		return nil, c.explain(err)
	}
	for _, f := range []*os.File{stdinR, stdoutW, stderrW} {
		_ = f.Close() // the server has its own copies
	}
	go p.await()
	go func() {
		defer close(p.quiet)
		defer func() { _ = stderrR.Close() }()
		p.stderr.drain(stderrR)
	}()
	return p, nil
}

// pipes makes pipes until one cannot be made.
type pipes struct {
	made []*os.File
	err  error
}

func (p *pipes) make() (r, w *os.File) {
	if p.err != nil {
		return nil, nil
	}
	if r, w, p.err = os.Pipe(); p.err == nil {
		p.made = append(p.made, r, w)
	}
	return r, w
}

func (p *pipes) close() {
	for _, f := range p.made {
		_ = f.Close()
	}
}

// command is the command line as it is executed: nothing that a peer says is part of it.
func (c *Child) command() (*exec.Cmd, error) {
	path, err := exec.LookPath(c.Command)
	if c.Dir != "" && strings.ContainsRune(c.Command, os.PathSeparator) {
		path, err = c.Command, nil // it is meant to be found from there
	}
	if err != nil {
		return nil, c.explain(err)
	}
	cmd := exec.Command(path, c.Args...) //nolint:noctx // it is ended in stages, see stop
	cmd.Args[0], cmd.Env, cmd.Dir = c.Command, c.Env, c.Dir
	return cmd, nil
}

// explain says why a command cannot be started, and what would help.
func (c *Child) explain(err error) error {
	hint := "try the same command in a shell"
	switch {
	case errors.Is(err, exec.ErrDot):
		hint = "a command in the current folder is written with ./ before its name"
	case errors.Is(err, exec.ErrNotFound):
		hint = "install it, check the spelling, or give its full path"
	case errors.Is(err, os.ErrNotExist):
		hint = "check the path; the file does not exist"
	case errors.Is(err, os.ErrPermission):
		hint = "make the file executable, or start it with its interpreter"
	}
	if inner := new(exec.Error); errors.As(err, &inner) {
		err = inner.Err
	}
	return &StartError{Command: c.Command, Hint: hint, Err: err}
}

// await takes note of the end of the server, and of all that it has started.
func (p *process) await() {
	p.status = statusOf(p.runs.End())
	close(p.done)
	_ = p.stdout.SetReadDeadline(time.Now().Add(outputDrainTimeout))
}

// outputDrainTimeout is how long the output of an ended server may stay silent while another process keeps it open.
const outputDrainTimeout = 250 * time.Millisecond

// Read reads the server's output. It returns io.EOF once the server has ended and its output is silent, even if
// another process keeps it open.
func (p *process) Read(b []byte) (int, error) {
	select {
	case <-p.done:
		_ = p.stdout.SetReadDeadline(time.Now().Add(outputDrainTimeout))
	default:
	}
	n, err := p.stdout.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// stop ends the process: its input ends, it is asked, it is killed. It returns when it has ended.
func (p *process) stop(grace time.Duration) {
	_ = p.stdin.Close()
	ask := time.NewTimer(min(grace, stopPatience))
	defer ask.Stop()
	select {
	case <-p.done:
		return
	case <-ask.C:
	}
	p.runs.Ask()
	kill := time.NewTimer(grace)
	defer kill.Stop()
	select {
	case <-p.done:
		return
	case <-kill.C:
	}
	p.kill()
	<-p.done
}

// stopPatience is how long a server has to notice that its input has ended before it is asked in other ways.
const stopPatience = 500 * time.Millisecond

// kill ends the server and all that it has started; done says when.
func (p *process) kill() { p.runs.Kill() }

func (p *process) close() { _, _ = p.stdin.Close(), p.stdout.Close() }
