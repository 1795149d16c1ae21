package zoo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Serve serves MCP over stdio until in ends, ctx is done, or a defect ends it with [ErrCrash]. Waiting calls are then dropped. It closes neither
// in nor out; a blocked reader is left behind.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	z, err := build(o)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	d := &stdioClient{zoo: z, session: newSession(), out: framing.NewLineWriter(out)}
	defer d.waiting.Wait()
	defer stop() // before the waiting: it ends them
	if z.wide["banner"] {
		_ = d.write([][]byte{[]byte("Welcome to the zoo! The server is ready.")}) // the next write returns the error again
	}
	arriving := lines(ctx, in)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-arriving:
			if errors.Is(f.err, io.EOF) {
				return nil
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

// stdioClient is one client over stdio.
type stdioClient struct {
	zoo     *zoo
	session *session
	waiting sync.WaitGroup

	mu  sync.Mutex // held while writing
	out *framing.LineWriter
}

// frame is a copy of a line, or the error of the reader.
type frame struct {
	line framing.Line
	err  error
}

// lines reads in a goroutine, so that the end of ctx does not wait for a reader.
func lines(ctx context.Context, in io.Reader) <-chan frame {
	out := make(chan frame)
	go func() {
		reader := framing.NewLineReader(in, wire.Limits{})
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
func (d *stdioClient) take(ctx context.Context, f frame) error {
	if f.line.Flaw != wireflaw.None {
		return d.write(d.zoo.tooLarge(d.session, f.line.Head, f.line.Tail).frames)
	}
	a, c := d.zoo.receive(ctx, d.session, f.line.Bytes)
	switch {
	case a.dies:
		return ErrCrash
	case a.hold == nil:
		return d.write(a.frames)
	}
	d.waiting.Go(func() {
		if a.hold(ctx, c) {
			_ = d.write(a.frames) // the next write returns the error again
		}
	})
	return nil
}

// write writes frames.
func (d *stdioClient) write(frames [][]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range frames {
		if err := d.out.WriteLine(f); err != nil {
			return err
		}
	}
	return nil
}
