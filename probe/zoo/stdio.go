package zoo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/candor-mcp/candor/wire"
)

// maxHeld bounds the calls that wait at one time; what comes beyond is not answered.
const maxHeld = 256

// Serve speaks MCP over lines until in ends, ctx is done, or a defect kills it, which is [ErrCrash]. Calls that still wait are then
// forgotten. It does not close in; a reader that blocks is left behind.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	z, err := build(o)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	d := &desk{zoo: z, session: newSession(), out: wire.NewLineWriter(out), held: make(chan struct{}, maxHeld)}
	defer d.waiting.Wait()
	defer stop() // before the waiting: it ends them
	if z.wide["banner"] {
		d.write([][]byte{[]byte("Welcome to the zoo! The server is ready.")})
	}
	arriving := lines(ctx, in)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-arriving:
			if errors.Is(f.err, io.EOF) {
				return d.failed()
			}
			if f.err != nil {
				return f.err
			}
			if err := d.take(ctx, f); err != nil {
				return err
			}
		}
	}
}

// desk is one client over lines.
type desk struct {
	zoo     *zoo
	session *session
	waiting sync.WaitGroup
	held    chan struct{} // one for each answer that waits

	mu  sync.Mutex // guards out and err
	out *wire.LineWriter
	err error // of writing
}

// frame is a line that was read, with memory of its own, or why there is none.
type frame struct {
	line wire.Line
	err  error
}

// lines reads on its own, so that the end of ctx need not wait for a reader.
func lines(ctx context.Context, in io.Reader) <-chan frame {
	out := make(chan frame)
	go func() {
		reader := wire.NewLineReader(in, wire.Limits{})
		for {
			line, err := reader.Next()
			line.Bytes, line.Head, line.Tail = bytes.Clone(line.Bytes), bytes.Clone(line.Head), bytes.Clone(line.Tail)
			select {
			case out <- frame{line, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// take answers a line, at once or later.
func (d *desk) take(ctx context.Context, f frame) error {
	if f.line.Flaw != wire.FlawNone {
		d.write(d.zoo.tooLarge(d.session, f.line.Head, f.line.Tail).frames)
		return d.failed()
	}
	a, c := d.zoo.receive(ctx, d.session, f.line.Bytes)
	switch {
	case a.dies:
		return ErrCrash
	case a.hold == nil:
		d.write(a.frames)
		return d.failed()
	}
	select {
	case d.held <- struct{}{}:
	default:
		return nil
	}
	d.waiting.Go(func() {
		defer func() { <-d.held }()
		if a.hold(ctx, c) {
			d.write(a.frames)
		}
	})
	return nil
}

// write is the only way out.
func (d *desk) write(frames [][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range frames {
		if err := d.out.WriteLine(f); err != nil && d.err == nil {
			d.err = err
		}
	}
}

func (d *desk) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
