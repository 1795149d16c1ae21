package drive

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// stdio is a link to a child over its standard input and output.
type stdio struct {
	*child
	limit time.Duration // for writing to a server that does not read
	came  chan arrival
	done  chan struct{} // closed by close
	mu    sync.Mutex    // one line at a time
}

func openStdio(t Target, o *Options) (*stdio, error) {
	c, err := start(t, o)
	if err != nil {
		return nil, err
	}
	s := &stdio{child: c, limit: o.Deadline, came: make(chan arrival), done: make(chan struct{})}
	go s.read()
	return s, nil
}

func (s *stdio) send(_ context.Context, _ int, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := append(append(make([]byte, 0, len(message)+1), message...), '\n')
	_ = s.in.SetWriteDeadline(time.Now().Add(s.limit)) // Write reports a closed pipe
	_, err := s.in.Write(line)
	return err
}

// read passes the lines on one by one. It holds only one line, so a server that floods has to wait.
func (s *stdio) read() {
	defer close(s.came)
	lines := framing.NewLineReader(s.out, wire.Limits{MaxBytes: maxMessage})
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		a := arrival{message: bytes.Clone(line.Bytes), size: line.Size}
		if line.Flaw != wireflaw.None {
			a.message, a.tail = bytes.Clone(line.Head), bytes.Clone(line.Tail)
		}
		select {
		case s.came <- a:
		case <-s.done:
			return
		}
	}
}

func (s *stdio) arrivals() <-chan arrival { return s.came }
func (s *stdio) exchanges() bool          { return false }
func (s *stdio) agreed(string)            {}
func (s *stdio) stderr(m *mask) string    { return s.said.take(m) }

func (s *stdio) close(patient bool) {
	close(s.done)
	s.child.close(patient)
}
