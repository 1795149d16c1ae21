package load

import (
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// Pipe is a client over a pair of streams that any number of callers share. Each call is written with a separate write, as
// clients do.
type Pipe struct {
	out     io.WriteCloser
	callers []pipeCaller // by caller

	mu  sync.Mutex // guards writes and buf
	buf []byte
}

type pipeCaller struct {
	made   uint64
	answer chan error
	wanted chan string // the tool whose answer is awaited
}

// NewPipe begins a session over the streams. Close closes out, and in is read until it ends.
func NewPipe(in io.Reader, out io.WriteCloser, callers int) (*Pipe, error) {
	p := &Pipe{out: out, callers: make([]pipeCaller, callers)}
	for i := range p.callers {
		p.callers[i].answer, p.callers[i].wanted = make(chan error, 1), make(chan string, 1)
	}
	lines := framing.NewLineReader(in, wire.Limits{})
	if _, err := io.WriteString(out, Initialize+"\n"); err != nil {
		return nil, err
	}
	line, err := lines.Next()
	if err != nil {
		return nil, fmt.Errorf("waiting for the first message of the server: %w", err)
	}
	if m := wire.Parse(line.Bytes, wire.Limits{}); Check(&m, "") != nil {
		return nil, Check(&m, "")
	}
	if _, err := io.WriteString(out, Initialized+"\n"); err != nil {
		return nil, err
	}
	go p.read(lines)
	return p, nil
}

// Call implements [Callers].
func (p *Pipe) Call(caller int, tool string) error {
	s := &p.callers[caller]
	s.made++
	s.wanted <- tool
	if err := p.write(s.made*uint64(len(p.callers))+uint64(caller), tool); err != nil { //nolint:gosec // a caller's number is not negative
		return err
	}
	return <-s.answer
}

func (p *Pipe) write(id uint64, tool string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buf = append(AppendCall(p.buf[:0], id, tool), '\n')
	_, err := p.out.Write(p.buf)
	return err
}

// read passes each answer to its caller until the stream ends, and then fails the remaining calls.
func (p *Pipe) read(lines *framing.LineReader) {
	for {
		line, err := lines.Next()
		if err != nil {
			for i := range p.callers {
				p.callers[i].answer <- err
			}
			return
		}
		m := wire.Parse(line.Bytes, wire.Limits{})
		id, err := strconv.ParseUint(string(m.ID()), 10, 64)
		if err != nil {
			continue // answers no call
		}
		s := &p.callers[id%uint64(len(p.callers))]
		s.answer <- Check(&m, <-s.wanted)
	}
}

// Close ends the session.
func (p *Pipe) Close() error { return p.out.Close() }
