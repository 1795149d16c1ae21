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
	pace = 100 * time.Millisecond // between two looks at the memory
	// outputDrainTimeout limits how long a process that was not found may keep the output open after the command ended.
	outputDrainTimeout = 250 * time.Millisecond
)

// live runs the process to its end, or to that of ctx or of its memory. err is why it could not be started.
func (p *process) live(ctx context.Context) (end guard.End, over bool, err error) {
	cmd := exec.Command(p.line[0], p.line[1:]...) //nolint:noctx // all that it starts is ended too, see below
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
		_, _ = io.Copy(p.out, read) // ends when all writers have closed it, or at the deadline below
	}()
	over = p.watch(ctx, running)
	_ = read.SetReadDeadline(time.Now().Add(outputDrainTimeout))
	<-drained
	return running.End(), over, nil
}

// watch waits for the end of the process and brings it about if there is a reason. It reports whether that was its memory.
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
