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

// maxHeld is the maximum number of waiting calls; further ones are not answered.
const maxHeld = 256

// Serve serves MCP over stdio until in ends, ctx is done, or a defect ends it with [ErrCrash]. Waiting calls are then dropped. It closes neither
// in nor out; a blocked reader or writer is left behind.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	z, err := build(o)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	d := &stdioClient{zoo: z, session: newSession(), held: make(chan struct{}, maxHeld), out: make(chan [][]byte), written: make(chan error, 1)}
	go d.writeAll(ctx, framing.NewLineWriter(out))
	defer d.waiting.Wait()
	defer stop() // before the waiting: it ends them
	if z.wide["banner"] {
		_ = d.write(ctx, [][]byte{[]byte("Welcome to the zoo! The server is ready.")}) // the next write returns the error again
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
	held    chan struct{} // one for each answer that waits

	out     chan [][]byte // to the one writer
	written chan error    // how the last of these was written
	mu      sync.Mutex    // held while writing
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
		return d.write(ctx, d.zoo.tooLarge(d.session, f.line.Head, f.line.Tail).frames)
	}
	a, c := d.zoo.receive(ctx, d.session, f.line.Bytes)
	switch {
	case a.dies:
		return ErrCrash
	case a.hold == nil:
		return d.write(ctx, a.frames)
	}
	select {
	case d.held <- struct{}{}:
	default:
		return nil
	}
	d.waiting.Go(func() {
		defer func() { <-d.held }()
		if a.hold(ctx, c) {
			_ = d.write(ctx, a.frames) // the next write returns the error again
		}
	})
	return nil
}

// write writes frames. A client that does not read blocks it until ctx is done.
func (d *stdioClient) write(ctx context.Context, frames [][]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case d.out <- frames:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-d.written:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writeAll writes until ctx is done.
func (d *stdioClient) writeAll(ctx context.Context, out *framing.LineWriter) {
	for {
		select {
		case frames := <-d.out:
			var first error
			for _, f := range frames {
				if err := out.WriteLine(f); first == nil {
					first = err
				}
			}
			d.written <- first
		case <-ctx.Done():
			return
		}
	}
}
