package mcpclient

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// Pipe is a connection over a pair of streams, such as those of a process.
type Pipe struct {
	in   io.WriteCloser
	came chan Message
	done chan struct{} // closed by Close
	once sync.Once
	mu   sync.Mutex // one line at a time
}

// NewPipe returns a connection that reads lines of at most maxBytes from out and writes to in; 0 is [MaxBytes]. Close closes in.
func NewPipe(out io.Reader, in io.WriteCloser, maxBytes int) *Pipe {
	p := &Pipe{in: in, came: make(chan Message), done: make(chan struct{})}
	if maxBytes == 0 {
		maxBytes = MaxBytes
	}
	go p.read(framing.NewLineReader(out, wire.Limits{MaxBytes: maxBytes}))
	return p
}

func (p *Pipe) read(lines *framing.LineReader) {
	defer close(p.came)
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		select {
		case p.came <- ofLine(line):
		case <-p.done:
			return
		}
	}
}

// Send implements [Conn]. A server that does not read blocks it until the deadline of ctx. A cancelled ctx does not
// interrupt it, because half a line would spoil the next one.
func (p *Pipe) Send(ctx context.Context, _ int, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if file, ok := p.in.(interface{ SetWriteDeadline(time.Time) error }); ok {
		deadline, _ := ctx.Deadline()
		_ = file.SetWriteDeadline(deadline) // Write reports a closed pipe
	}
	if _, err := p.in.Write(append(append(make([]byte, 0, len(message)+1), message...), '\n')); err != nil {
		return fmt.Errorf("writing to the server's input: %w", err)
	}
	return nil
}

// Messages implements [Conn].
func (p *Pipe) Messages() <-chan Message { return p.came }

// Exchanges implements [Conn].
func (p *Pipe) Exchanges() bool { return false }

// Agree implements [Conn]: lines have no headers.
func (p *Pipe) Agree(string) {}

// Close implements [Conn].
func (p *Pipe) Close(bool) {
	p.once.Do(func() {
		close(p.done)
		_ = p.in.Close() // the server reads its end
	})
}
