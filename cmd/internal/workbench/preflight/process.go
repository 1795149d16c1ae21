package preflight

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
)

const (
	pace = 100 * time.Millisecond // interval of memory checks
	// outputDrainTimeout limits how long an escaped process may keep the output open after the command ended.
	outputDrainTimeout = 250 * time.Millisecond
)

// live runs a process until it ends, ctx ends, or it exceeds its memory limit. err is the error of starting it.
func live(ctx context.Context, cmd *exec.Cmd, out io.Writer, o guard.Options) (end guard.End, over bool, err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return guard.End{}, false, err
	}
	defer func() { _ = read.Close() }()
	cmd.Stdout, cmd.Stderr = write, write
	running, err := guard.Start(cmd, o)
	_ = write.Close() // the command has its own copy
	if err != nil {
		return guard.End{}, false, err
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(out, read) // ends when all writers have closed the pipe, or at the deadline below
	}()
	over = watch(ctx, running, o.Limits.Data)
	_ = read.SetReadDeadline(time.Now().Add(outputDrainTimeout))
	<-drained
	return running.End(), over, nil
}

// watch waits for the end of a process and kills it if ctx ends or the memory limit is exceeded. It reports whether the
// limit was exceeded.
func watch(ctx context.Context, running *guard.Process, memory int64) (over bool) {
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
			if !over && running.Memory() > memory {
				over = true
				running.Kill()
			}
		}
	}
}
