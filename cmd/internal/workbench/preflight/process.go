package preflight

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
)

// process is a command that is about to run.
type process struct {
	line   []string
	dir    string
	env    []string
	out    io.Writer
	memory int64
	guard  guard.Options
}

const (
	pace = 100 * time.Millisecond // interval of memory checks
	// outputDrainTimeout limits how long an escaped process may keep the output open after the command ended.
	outputDrainTimeout = 250 * time.Millisecond
)

// live runs the process until it ends, ctx ends, or it exceeds its memory limit. err is the error of starting it.
func (p *process) live(ctx context.Context) (end guard.End, over bool, err error) {
	cmd := exec.Command(p.line[0], p.line[1:]...) //nolint:noctx // watch kills it and its children when ctx ends
	cmd.Dir, cmd.Env = p.dir, p.env
	read, write, err := os.Pipe()
	if err != nil {
		return guard.End{}, false, err
	}
	defer func() { _ = read.Close() }()
	cmd.Stdout, cmd.Stderr = write, write
	running, err := guard.Start(cmd, p.guard)
	_ = write.Close() // the command has its own copy
	if err != nil {
		return guard.End{}, false, err
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(p.out, read) // ends when all writers have closed the pipe, or at the deadline below
	}()
	over = p.watch(ctx, running)
	_ = read.SetReadDeadline(time.Now().Add(outputDrainTimeout))
	<-drained
	return running.End(), over, nil
}

// watch waits for the end of the process and kills it if ctx ends or the memory limit is exceeded. It reports whether
// the limit was exceeded.
func (p *process) watch(ctx context.Context, running *guard.Process) (over bool) {
	look := time.NewTicker(pace)
	defer look.Stop()
	for {
		select {
		case <-running.Done():
			return over
		case <-ctx.Done():
			running.Kill()
			<-running.Done()
			return over
		case <-look.C:
			if !over && running.Memory() > p.memory {
				over = true
				running.Kill()
			}
		}
	}
}
