package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// ServeStdio serves a client over two streams of lines, usually os.Stdin and os.Stdout, until the client closes its end or ctx is
// done. It closes both streams. A malformed line is answered and the session continues. Cancelled calls are not answered. Ids are
// returned as they were written.
//
// mcp-go has one stdio session per process, so do not serve two at the same time.
func (s *Server) ServeStdio(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
	conn, err := s.b.Transport(r, w).Connect(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	stdio := server.NewStdioServer(s.inner)
	stdio.SetErrorLogger(s.log())
	p := &pump{s: s, conn: conn, toServer: toServer, asked: map[jsonrpc.ID]*jsonrpc.Request{}}

	p.work.Go(func() {
		_ = out.CloseWithError(stdio.Listen(ctx, in, out))
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

func (s *Server) log() *log.Logger {
	l := s.o.Logger
	if l == nil {
		l = slog.Default()
	}
	return slog.NewLogLogger(l.Handler(), slog.LevelError)
}

// pump copies messages between the boundary's connection and mcp-go's streams. The boundary's connection delivers only valid
// messages, ensures that each open id is unique, and does not answer cancelled calls.
type pump struct {
	s        *Server
	conn     sdk.Connection
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
			if done, err := p.answerStats(ctx, r); done || err != nil {
				if err != nil {
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
		line = framing.AppendLine(nil, line)
		if _, err := p.toServer.Write(line); err != nil {
			return err
		}
		if r, ok := m.(*jsonrpc.Request); ok && r.Method == cancelledMethod {
			p.work.Go(func() { p.insist(ctx, r, line) })
		}
	}
}

const (
	cancelledMethod = "notifications/cancelled"
	insistPause     = 100 * time.Millisecond
)

// insist repeats the cancellation of a call until the call has ended. mcp-go queues calls and discards a cancellation that arrives
// before its call has started, so the call would run in vain.
func (p *pump) insist(ctx context.Context, r *jsonrpc.Request, line []byte) {
	var params struct {
		RequestID any `json:"requestId"`
	}
	if json.Unmarshal(r.Params, &params) != nil {
		return
	}
	id, err := jsonrpc.MakeID(params.RequestID)
	if err != nil {
		return
	}
	again := time.NewTicker(insistPause)
	defer again.Stop()
	for p.isOpen(id) {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		if _, err := p.toServer.Write(line); err != nil {
			return
		}
	}
}

func (p *pump) isOpen(id jsonrpc.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[id] != nil
}

// answerStats answers sys/errorStats, which mcp-go cannot register. It reports whether it has answered r.
func (p *pump) answerStats(ctx context.Context, r *jsonrpc.Request) (bool, error) {
	if r.Method != boundary.StatsMethod {
		return false, nil
	}
	stats, ok := p.s.a.Stats(r.Params)
	if !ok {
		return false, nil
	}
	return true, p.conn.Write(ctx, &jsonrpc.Response{ID: r.ID, Result: stats})
}

// outward passes on mcp-go's messages until the end of its output.
func (p *pump) outward(ctx context.Context, r io.Reader) {
	lines := framing.NewLineReader(r, wire.Limits{MaxBytes: maxAnswer})
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		answer, request := p.finished(ctx, line.Bytes)
		m, err := jsonrpc.DecodeMessage(answer)
		if err != nil {
			p.s.log().Printf("the server wrote an invalid message: %v", err)
			continue
		}
		if response, ok := m.(*jsonrpc.Response); ok && request != nil {
			p.s.a.NoteRecorded(request, response)
		}
		if p.conn.Write(context.WithoutCancel(ctx), m) != nil {
			return
		}
	}
}

// maxAnswer is the maximum size of a message of the server.
const maxAnswer = 1 << 30

// finished returns the message to send for a line of mcp-go, and the request if the answer contains a failure that was recorded.
func (p *pump) finished(ctx context.Context, line []byte) (answer []byte, recorded *jsonrpc.Request) {
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return line, nil
	}
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return line, nil
	}
	p.mu.Lock()
	request := p.asked[r.ID]
	delete(p.asked, r.ID)
	p.mu.Unlock()
	if request == nil {
		return line, nil
	}
	raw, err := jsonrpc.EncodeMessage(request)
	if err != nil {
		return line, nil
	}
	asked := wire.Parse(raw, wire.Limits{AllowLoneSurrogates: true})
	answer, done := p.s.finish(ctx, line, &asked)
	if !done {
		request = nil
	}
	return answer, request
}
