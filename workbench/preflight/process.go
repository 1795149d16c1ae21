package preflight

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// process is a command that is about to run.
type process struct {
	line   []string
	dir    string
	env    []string
	out    io.Writer
	memory int64
}

const (
	pace = 100 * time.Millisecond // between two looks at the memory
	// afterlife is how long the output may be held open when the group is gone: by somebody who has left it.
	afterlife = 250 * time.Millisecond
)

// live runs the process to its end, or to that of ctx or of its memory. err is why it could not be started.
func (p *process) live(ctx context.Context) (state *os.ProcessState, over bool, err error) {
	cmd := exec.Command(p.line[0], p.line[1:]...) //nolint:noctx // the whole group is ended, see below
	cmd.Dir, cmd.Env, cmd.SysProcAttr = p.dir, p.env, attributes()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = read.Close() }()
	cmd.Stdout, cmd.Stderr = write, write
	started, ended := make(chan error, 1), make(chan struct{})
	go func() { // the kernel takes the death of the thread that started a child for the death of its parent
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the state says more
			killGroup(cmd.Process.Pid)
		}
	}()
	err = <-started
	_ = write.Close() // the command has its own copy
	if err != nil {
		<-ended
		return nil, false, err
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(p.out, read) // it ends by the end of the group, or by the deadline below
	}()
	over = p.watch(ctx, cmd.Process.Pid, ended)
	_ = read.SetReadDeadline(time.Now().Add(afterlife))
	<-drained
	awaitGroup(cmd.Process.Pid)
	return cmd.ProcessState, over, nil
}

// watch waits for the end of the process and brings it about if there is a reason. It reports whether that was its memory.
func (p *process) watch(ctx context.Context, pid int, ended <-chan struct{}) (over bool) {
	look := time.NewTicker(pace)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return over
		case <-ctx.Done():
			killGroup(pid)
			<-ended
			return over
		case <-look.C:
			if !over && groupMemory(pid) > p.memory {
				over = true
				killGroup(pid)
			}
		}
	}
}

// awaitGroup gives those that were killed the moment that they need to be gone. Only one that the kernel itself holds takes longer.
func awaitGroup(pid int) {
	for range 200 {
		if !groupAlive(pid) {
			return
		}
		killGroup(pid)
		time.Sleep(5 * time.Millisecond)
	}
}
