package mcpclient

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/candor-mcp/candor/internal/tail"
)

// Stdio is a connection to a process that was started for it.
type Stdio struct {
	*Pipe
	Stderr tail.Tail // the end of standard error

	process    Process
	out        *os.File
	stderrRead chan struct{} // closed at the end of standard error
}

// Process is a started process.
type Process interface {
	Done() <-chan struct{} // closed when it has ended
	Ask()                  // asks it to end
	Kill()                 // kills it with its children
}

// StdioOptions configures [Start].
type StdioOptions struct {
	MaxBytes  int // of one line; 0 is [MaxBytes]
	MaxStderr int // bytes of standard error to keep; 0 is 4 KiB
	// Start starts the command, which has files as its streams; nil starts it in a process group of its own, which Kill ends.
	Start func(*exec.Cmd) (Process, error)
}

// How long a process gets at each step of its end.
const (
	endByItself  = 500 * time.Millisecond // after its input was closed
	endBySignal  = 300 * time.Millisecond // after it was asked
	endByForce   = 5 * time.Second        // after it was killed, which is immediate unless the kernel blocks the process
	drainTimeout = 300 * time.Millisecond // to read the rest of the output of an ended process if others hold its pipes
)

// Start starts a process. The pipes are created here, so that waiting for the process does not wait for others that inherited
// them.
func Start(cmd *exec.Cmd, o StdioOptions) (*Stdio, error) {
	if o.Start == nil {
		o.Start = startGroup
	}
	if o.MaxStderr == 0 {
		o.MaxStderr = 4 << 10
	}
	var files [6]*os.File
	var err error
	for i := 0; i < len(files) && err == nil; i += 2 {
		files[i], files[i+1], err = os.Pipe()
	}
	s := &Stdio{Stderr: tail.Tail{N: o.MaxStderr}, out: files[2], stderrRead: make(chan struct{})}
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
		s.process, err = o.Start(cmd)
	}
	for _, theirs := range []int{0, 3, 5} {
		_ = files[theirs].Close() // the process has copies
	}
	if err != nil {
		for _, ours := range []int{1, 2, 4} {
			_ = files[ours].Close()
		}
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	s.Pipe = NewPipe(files[2], files[1], o.MaxBytes)
	go s.readStderr(files[4])
	go s.limitOutput(files[4])
	return s, nil
}

func (s *Stdio) readStderr(stderr *os.File) {
	defer close(s.stderrRead)
	_, _ = io.Copy(&s.Stderr, stderr) // ends with the process, see limitOutput
	_ = stderr.Close()
}

// limitOutput waits until the process ends, and then limits the time to read the rest of its output.
func (s *Stdio) limitOutput(stderr *os.File) {
	<-s.process.Done()
	soon := time.Now().Add(drainTimeout)
	_, _ = s.out.SetReadDeadline(soon), stderr.SetReadDeadline(soon) // errors mean that they are closed already
}

// Ended waits up to d for the end of the process and of its standard error, and reports whether the process has ended.
func (s *Stdio) Ended(d time.Duration) bool {
	if !within(s.process.Done(), d) {
		return false
	}
	within(s.stderrRead, d)
	return true
}

// Close implements [Conn]. It kills the process with its children, and waits for it.
func (s *Stdio) Close(patient bool) {
	s.Pipe.Close(patient)
	if patient && !within(s.process.Done(), endByItself) {
		s.process.Ask()
		within(s.process.Done(), endBySignal)
	}
	s.process.Kill()
	within(s.process.Done(), endByForce)
	_ = s.out.Close()
	within(s.stderrRead, endByForce) // limitOutput has set a deadline
}

// within waits until done is closed, and reports whether that was within d.
func within(done <-chan struct{}, d time.Duration) bool {
	clock := time.NewTimer(d)
	defer clock.Stop()
	select {
	case <-done:
		return true
	case <-clock.C:
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
