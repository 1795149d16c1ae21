package python

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/internal/tail"
)

// stop is the reason why a process was stopped, empty if it ended by itself.
type stop string

const (
	stopTime   stop = "time"
	stopCancel stop = "cancel"
	stopOutput stop = "output"
	stopFolder stop = "folder"
)

// process is a command to run.
type process struct {
	line  []string
	dir   string
	env   []string
	guard guard.Options
	keep  int                               // bytes to keep of each output
	full  func(context.Context) (over bool) // called periodically; the process is stopped when it returns true
}

// finished is a process that has ended, with all processes that it started.
type finished struct {
	end            guard.End
	stopped        stop
	stdout, stderr *capture
}

const (
	lookEvery = 100 * time.Millisecond // interval of checking the directory
	// drainTimeout is how long after the end an unknown process may keep the output open.
	drainTimeout = 250 * time.Millisecond
)

// run runs the process to its end or stops it: when ctx ends, when it writes too much, or when full returns true.
func (p *process) run(ctx context.Context) (*finished, error) {
	cmd := exec.Command(p.line[0], p.line[1:]...) //nolint:noctx // the guard ends all that it starts
	cmd.Dir, cmd.Env = p.dir, p.env
	total := &volume{flood: make(chan struct{}, 1)}
	keep := func() *capture { return &capture{keep: p.keep, tail: tail.Tail{N: tailBytes}, total: total} }
	done := &finished{stdout: keep(), stderr: keep()}
	out, drainOut, err := pipe(done.stdout)
	if err != nil {
		return nil, err
	}
	errs, drainErrs, err := pipe(done.stderr)
	if err != nil {
		_ = out.Close()
		drainOut()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = out, errs
	running, err := guard.Start(cmd, p.guard)
	_, _ = out.Close(), errs.Close() // the process has its own copies
	if err == nil {
		done.stopped = p.watch(ctx, running, total.flood)
		done.end = running.End()
	}
	drainOut()
	drainErrs()
	return done, err
}

// pipe returns a file whose input is copied to c. drain waits until everything was copied.
func pipe(c *capture) (file *os.File, drain func(), err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(c, read) // ends when all writers have closed it, or at the deadline below
	}()
	return write, func() {
		_ = read.SetReadDeadline(time.Now().Add(drainTimeout))
		<-copied
		_ = read.Close()
	}, nil
}

// watch waits for the end of the process and stops it if there is a reason.
func (p *process) watch(ctx context.Context, running *guard.Process, flood <-chan struct{}) (why stop) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for why == "" {
		select {
		case <-running.Done():
			return ""
		case <-ctx.Done():
			why = stopTime
			if errors.Is(ctx.Err(), context.Canceled) {
				why = stopCancel
			}
		case <-flood:
			why = stopOutput
		case <-look.C:
			if p.full != nil && p.full(ctx) {
				why = stopFolder
			}
		}
	}
	running.Kill()
	<-running.Done()
	return why
}
