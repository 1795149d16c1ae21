package candortest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	framingpkg "github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Stdio starts the command for every connection and speaks MCP over its standard input and output. The process and its
// children are killed when the connection closes. CANDOR_LEDGER is set to "none", so that a server built with Candor
// records nothing.
func Stdio(command string, args ...string) Transport {
	return StdioFunc(func() *exec.Cmd {
		return exec.Command(command, args...) //nolint:noctx // its end is that of the connection, which kills the whole group
	})
}

// StdioFunc is like [Stdio] with a command that the caller prepares, for example with environment variables such as
// CANDOR_LEDGER or a working directory. start is called for every connection and must return a new command with no
// standard streams attached.
func StdioFunc(start func() *exec.Cmd) Transport { return stdioTransport{start} }

type stdioTransport struct{ start func() *exec.Cmd }

// Open starts the process.
func (t stdioTransport) Open(context.Context) (Conn, error) {
	cmd := t.start()
	withoutLedger(cmd)
	stdin, toChild, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("opening a pipe to the server: %w", err)
	}
	fromChild, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a pipe from the server: %w", err), stdin.Close(), toChild.Close())
	}
	c := &stdioConn{lineConn: newLineConn(fromChild), cmd: cmd, stdin: toChild, stdout: fromChild, exited: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &c.stderr
	cmd.WaitDelay = time.Second // do not wait for a grandchild that keeps stderr open
	ownGroup(cmd)
	err = cmd.Start()
	closed := errors.Join(stdin.Close(), stdout.Close()) // the child has copies
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", cmd.Path, err), closed, toChild.Close(), fromChild.Close())
	}
	go c.read()
	go func() { _ = cmd.Wait(); close(c.exited) }() // the messages and stderr show how it ended
	return c, nil
}

const ledgerVariable = "CANDOR_LEDGER"

// withoutLedger keeps the server from recording the failures of the checks in the ledger of the user who runs the tests.
// A ledger that the caller has set for this command is kept.
func withoutLedger(cmd *exec.Cmd) {
	inherited := os.Getenv(ledgerVariable)
	for _, setting := range cmd.Env {
		if dir, ok := strings.CutPrefix(setting, ledgerVariable+"="); ok && dir != inherited && dir != "" {
			return
		}
	}
	cmd.Env = append(cmd.Environ(), ledgerVariable+"=none")
}

type stdioConn struct {
	lineConn
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr tail
	exited chan struct{}
}

// Send writes the message and a line end.
func (c *stdioConn) Send(ctx context.Context, message []byte, _ http.Header) error {
	deadline, _ := ctx.Deadline()
	if err := c.stdin.SetWriteDeadline(deadline); err != nil {
		return fmt.Errorf("setting a deadline for the server's input: %w", err)
	}
	if _, err := c.stdin.Write(append(bytes.Clone(message), '\n')); err != nil {
		return fmt.Errorf("writing to the server's input: %w", err)
	}
	return nil
}

// Diagnostics returns the end of the server's standard error.
func (c *stdioConn) Diagnostics() string { return c.stderr.String() }

// Close kills the process group.
func (c *stdioConn) Close() error {
	err := errors.Join(c.stdin.Close(), killGroup(c.cmd))
	select {
	case <-c.exited:
	case <-time.After(5 * time.Second):
		err = errors.Join(err, fmt.Errorf("the server did not exit after it was killed"))
	}
	close(c.done)
	return errors.Join(err, c.stdout.Close())
}

// lineConn turns a stream of lines into frames. All line-based connections use it.
type lineConn struct {
	from   io.Reader
	frames chan Frame    // closed by read at the end of the stream
	done   chan struct{} // closed by Close
}

func newLineConn(from io.Reader) lineConn {
	return lineConn{from: from, frames: make(chan Frame, maxWaiting), done: make(chan struct{})}
}

// read runs until the stream ends. If frames are not received, it stops reading, and the pipe blocks the server.
func (c *lineConn) read() {
	defer close(c.frames)
	lines := framingpkg.NewLineReader(c.from, wire.Limits{MaxBytes: maxFrame})
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		frame := Frame{Data: bytes.Clone(line.Bytes)}
		if line.Flaw != wireflaw.None {
			frame = Frame{Data: bytes.Clone(line.Head), TooLarge: true}
		}
		select {
		case c.frames <- frame:
		case <-c.done:
			return
		}
	}
}

// Receive returns the next line.
func (c *lineConn) Receive(ctx context.Context) (Frame, error) {
	select {
	case frame, ok := <-c.frames:
		if !ok {
			return Frame{}, io.EOF
		}
		return frame, nil
	case <-ctx.Done():
		return Frame{}, ctx.Err()
	}
}

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte // guarded by mu
}

const maxTail = 4096

// Write appends p and keeps the last bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - maxTail; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

// String returns the bytes that were kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
