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
	"github.com/candor-mcp/candor/internal/tail"
)

// Child describes the server process to start, and how it is run.
type Child struct {
	Command string   // a path, or a name that is looked up in the gateway's PATH
	Args    []string // without the command itself
	Env     []string // nil means the environment of the gateway
	Dir     string   // "" means the directory of the gateway

	// Stderr receives the server's standard error; nil discards it.
	Stderr io.Writer
	// RedactStderr removes secrets and control characters from Stderr, line by line. Paths are kept, because the
	// operator reads this output. Clients never see paths.
	RedactStderr bool

	// Guard is the command line that runs [guard.Main], without the server's command line. With it, no process that the
	// server has started outlives the gateway, however either ends. Without it, and on systems without guards, only the
	// server and its process group are ended.
	Guard []string

	Restart RestartPolicy
	Grace   time.Duration // time between asking the server to end and killing it; 0 means 5 seconds
	Drain   time.Duration // how long open calls may take after the client has hung up; 0 means 10 seconds
}

// RestartPolicy limits how often a server that has ended is restarted. The zero value never restarts it.
type RestartPolicy struct {
	Tries   int           // restarts within one minute; 0 means never
	Wait    time.Duration // delay before the first restart, doubled for each further one; 0 means 100 milliseconds
	MaxWait time.Duration // 0 means 10 seconds
}

// Fill replaces zero durations by their defaults.
func (c *Child) Fill() {
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	c.Drain = cmp.Or(c.Drain, 10*time.Second)
	c.Restart.Wait = cmp.Or(c.Restart.Wait, 100*time.Millisecond)
	c.Restart.MaxWait = cmp.Or(c.Restart.MaxWait, 10*time.Second)
}

// StartError is the error for a server that could not be started. Its hint says how to correct that.
type StartError struct {
	Command string
	Hint    string
	Err     error
}

// Error returns the error and the hint in one line.
func (e *StartError) Error() string {
	return fmt.Sprintf("starting %q: %v (hint: %s)", e.Command, e.Err, e.Hint)
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// process is a running server.
type process struct {
	stdin  *os.File
	stdout *os.File
	stderr *stderrTail
	runs   *guard.Process
	quiet  chan struct{} // closed at the end of stderr
	done   chan struct{} // closed when the process has ended; status is valid from then on
	status Status
}

// start starts the server.
func (c *Child) start() (*process, error) {
	cmd, err := c.command()
	if err != nil {
		return nil, err
	}
	p := &process{stderr: &stderrTail{kept: tail.Tail{N: keptBytes}, to: c.Stderr, redact: c.RedactStderr, secrets: gateway.CommandSecrets(c.Env, c.Args)}, quiet: make(chan struct{}), done: make(chan struct{})}
	var ends [3][2]*os.File // of the pipes to read from, and to write to
	closeEnds := func(files ...*os.File) {
		for _, f := range files {
			_ = f.Close() // nil if the pipe could not be made
		}
	}
	for i := range ends {
		if ends[i][0], ends[i][1], err = os.Pipe(); err != nil {
			closeEnds(ends[0][0], ends[0][1], ends[1][0], ends[1][1])
			return nil, fmt.Errorf("making pipes for the server: %w", err)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends[0][0], ends[1][1], ends[2][1]
	stderrR := ends[2][0]
	p.stdin, p.stdout = ends[0][1], ends[1][0]
	p.runs, err = guard.Start(cmd, guard.Options{Self: c.Guard})
	closeEnds(ends[0][0], ends[1][1], ends[2][1]) // the server has copies
	if err != nil {
		closeEnds(p.stdin, p.stdout, stderrR)
		return nil, c.explain(err)
	}
	go p.await()
	go func() {
		defer close(p.quiet)
		defer func() { _ = stderrR.Close() }()
		p.stderr.drain(stderrR)
	}()
	return p, nil
}

// command returns the command to execute. No part of it comes from a peer.
func (c *Child) command() (*exec.Cmd, error) {
	path, err := exec.LookPath(c.Command)
	if c.Dir != "" && strings.ContainsRune(c.Command, os.PathSeparator) {
		path, err = c.Command, nil // the path is relative to Dir
	}
	if err != nil {
		return nil, c.explain(err)
	}
	cmd := exec.Command(path, c.Args...) //nolint:noctx // it is ended in stages, see stop
	cmd.Args[0], cmd.Env, cmd.Dir = c.Command, c.Env, c.Dir
	return cmd, nil
}

// explain returns a [StartError] with the reason and a hint.
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

// await waits until the server and all processes that it has started have ended, and sets the status.
func (p *process) await() {
	p.status = statusOf(p.runs.End())
	close(p.done)
	_ = p.stdout.SetReadDeadline(time.Now().Add(outputDrainTimeout))
}

// outputDrainTimeout is how long the output of an ended server may be silent while another process keeps it open.
const outputDrainTimeout = 250 * time.Millisecond

// Read reads the server's output. It returns io.EOF once the server has ended and its output is silent, even if another
// process keeps it open.
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

// stop ends the process in stages: it closes its input, asks it to end, and kills it. It returns when the process has ended.
func (p *process) stop(grace time.Duration) {
	_ = p.stdin.Close()
	ask := time.NewTimer(min(grace, inputEndTimeout))
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

// inputEndTimeout is how long a server has to react to the end of its input before it is asked to end.
const inputEndTimeout = 500 * time.Millisecond

// kill kills the server and all processes that it has started. It does not wait; done is closed when they have ended.
func (p *process) kill() { p.runs.Kill() }

func (p *process) close() { _, _ = p.stdin.Close(), p.stdout.Close() }

// Status describes how a process ended.
type Status struct {
	Code   int    // the exit code, or 128 plus the number of the signal that ended the process
	Signal string // the name of that signal, or ""
}

// String describes the status, such as "exited with code 1".
func (s Status) String() string {
	if s.Signal != "" {
		return "ended by " + s.Signal
	}
	return fmt.Sprintf("exited with code %d", s.Code)
}

func statusOf(end guard.End) Status {
	s := Status{Code: end.Code}
	if end.Signal != 0 {
		s.Signal = signalName(end.Signal)
	}
	return s
}
