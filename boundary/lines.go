package boundary

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// ServeLines serves a client over two streams of lines, usually os.Stdin and os.Stdout, with a server of another SDK
// that reads its messages from in and writes them to out. It ends when the client closes its end or ctx is done, and
// closes both streams. A malformed line is answered and the session continues. Cancelled calls are not answered. Ids
// are returned as they were written. The failures of its tools should pass through [Boundary.CallTool]; ServeLines
// records and counts the others, answers sys/errorStats and announces [Extension].
func (b *Boundary) ServeLines(ctx context.Context, r io.ReadCloser, w io.WriteCloser, listen func(ctx context.Context, in io.Reader, out io.Writer) error) error {
	conn, err := b.Transport(r, w).Connect(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	p := &pump{b: b, conn: conn, toServer: toServer, asked: map[jsonrpc.ID]*jsonrpc.Request{}}

	p.work.Go(func() {
		_ = out.CloseWithError(listen(ctx, in, out))
		_ = in.Close()
	})
	p.work.Go(func() {
		p.outward(ctx, fromServer)
		_ = fromServer.Close()
	})
	err = p.inward(ctx)
	_ = toServer.Close()
	cancel()
	p.work.Wait()
	_ = conn.Close()
	if errors.Is(err, io.EOF) || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// pump copies messages between the boundary's connection and the streams of another SDK. The boundary's connection
// delivers only valid messages, ensures that each open id is unique, and does not answer cancelled calls.
type pump struct {
	b        *Boundary
	conn     mcp.Connection
	toServer io.Writer
	work     sync.WaitGroup // goroutines besides inward

	mu    sync.Mutex
	asked map[jsonrpc.ID]*jsonrpc.Request // under mu; limited by the boundary
}

// inward passes on the client's messages until the end of the input.
func (p *pump) inward(ctx context.Context) error {
	for {
		m, err := p.conn.Read(ctx)
		if err != nil {
			return err
		}
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			if stats, ok := p.b.stats(r.Params); ok && r.Method == statsMethod { // another SDK may not be able to register it
				if err := p.conn.Write(ctx, &jsonrpc.Response{ID: r.ID, Result: stats}); err != nil {
					return err
				}
				continue
			}
			p.mu.Lock()
			p.asked[r.ID] = r
			p.mu.Unlock()
		}
		line, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		if _, err := p.toServer.Write(framing.AppendLine(nil, line)); err != nil {
			return err
		}
	}
}

// outward passes on the server's messages until the end of its output.
func (p *pump) outward(ctx context.Context, r io.Reader) {
	lines := framing.NewLineReader(r, wire.Limits{MaxBytes: maxAnswer})
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		m, err := jsonrpc.DecodeMessage(line.Bytes)
		if err != nil {
			p.b.o.Logger.ErrorContext(ctx, "the server wrote an invalid message", slog.Any("error", candor.From(err)))
			continue
		}
		if r, ok := m.(*jsonrpc.Response); ok {
			p.finish(ctx, r)
		}
		if p.conn.Write(context.WithoutCancel(ctx), m) != nil {
			return
		}
	}
}

// maxAnswer is the maximum size of a message of the server.
const maxAnswer = 1 << 30

// finish completes a response, and notes the failure in it that was recorded, so that the connection does not record it again.
func (p *pump) finish(ctx context.Context, r *jsonrpc.Response) {
	p.mu.Lock()
	request := p.asked[r.ID]
	delete(p.asked, r.ID)
	p.mu.Unlock()
	if request == nil {
		return
	}
	key := p.b.finish(ctx, request, r)
	extra, _ := request.Extra.(*mcp.RequestExtra)
	if o := callOf(extra); o != nil && key != "" {
		o.set(key)
	}
}
