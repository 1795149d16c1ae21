package stdio

import (
	"bytes"
	"errors"
	"io"
	"log/slog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// read forwards the server's messages to the client until the stream ends, and returns the reason.
func (l *serverConn) read(server io.Reader) error {
	lines := framing.NewLineReader(flushingReader{server, l.client.flush}, l.up.Options.Limits.Message)
	for {
		line, err := lines.Next()
		if err != nil {
			l.releaseAll()
			l.client.flush()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		l.fromServer(line)
	}
}

// fromServer handles one line from the server.
func (l *serverConn) fromServer(line framing.Line) {
	if line.Flaw != wireflaw.None {
		l.oversize(line)
		return
	}
	first := !l.spoken
	l.spoken = true
	m := wire.Parse(line.Bytes, l.up.Options.Limits.Message)
	switch m.Kind() {
	case wire.KindResult, wire.KindError:
		l.answer(&m)
	case wire.KindNotification:
		l.observe(&m)
		l.client.queue(m.Bytes())
	case wire.KindRequest:
		l.remember(m.ID())
		l.client.queue(m.Bytes())
	default:
		if line.Unended { // a partial line means that the server ended, and the end of the connection reports that better
			l.unglue(m.Bytes())
			return
		}
		if !l.passReady(&m, first) {
			l.malformed(&m)
		}
	}
}

// answer ends the call that m answers.
func (l *serverConn) answer(m *wire.Message) {
	if p := l.take(gateway.IDKey(m.ID())); p != nil {
		l.answered(p, m)
		return
	}
	l.dropped(m)
}

// answered ends a request that was removed from the table.
func (l *serverConn) answered(p *pending, m *wire.Message) {
	switch {
	case p.call == nil:
		own := *m // the callee is unknown here; without the copy, every message would escape to the heap
		p.own(&own)
	default:
		if p.call.Method() == "initialize" {
			l.handshake.response(m)
		}
		l.close(p, m)
	}
}

// close ends a call that was removed from the table with the server's answer, or retries it. A clean answer is sent
// immediately. A failure is recorded first, concurrently with other failures, because a ledger that syncs to disk
// writes many as fast as one, and later messages do not wait for it.
func (l *serverConn) close(p *pending, m *wire.Message) {
	defer l.rescue(p)
	answer := p.call.Read(m)
	l.closeWith(p, &answer)
}

// closeWith is like close for an answer that has been read.
func (l *serverConn) closeWith(p *pending, answer *gateway.Answer) {
	if reply, clean := p.call.PassClean(answer); clean {
		l.client.queue(reply.Bytes)
		return
	}
	if l.up.Options.Ledger == nil || answer.Size() > maxRecording {
		l.closeFailed(p, *answer, l.client.queue)
		return
	}
	l.closeBeside(p, answer.Clone())
}

// closeBeside closes a failed call in a new goroutine. It is a separate function so that clean answers do not allocate.
func (l *serverConn) closeBeside(p *pending, answer gateway.Answer) {
	l.recording <- struct{}{}
	l.work.Go(func() {
		defer func() { <-l.recording }()
		defer l.rescue(p)
		l.closeFailed(p, answer, l.client.send)
	})
}

func (l *serverConn) closeFailed(p *pending, answer gateway.Answer, write func([]byte)) {
	reply := p.call.CloseAnswer(l.ctx, &answer)
	if reply.Again {
		l.again(p, reply.Wait)
		return
	}
	write(reply.Bytes)
}

// rescue answers a call after its handling has panicked.
func (l *serverConn) rescue(p *pending) {
	if l.up.LogPanic(l.ctx, "closing a call", recover()) {
		l.client.send(p.call.Fail(l.ctx, gateway.NewError(candor.CodeInternalError)))
	}
}

// observe inspects a notification from the server before it is forwarded.
func (l *serverConn) observe(m *wire.Message) {
	switch {
	case m.MethodIs("notifications/progress"):
		if token := m.Params().Path("progressToken").Raw(); token != nil {
			l.extend(token)
		}
	case m.MethodIs("notifications/tools/list_changed"):
		l.tools.Forget()
		l.listing.forget()
	}
}

// maxAskedID is the length of the longest id that is kept in full.
const maxAskedID = 256

// remember records a request from the server, so that the client's response is forwarded.
func (l *serverConn) remember(id wire.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over != nil || len(l.asked) >= l.up.Options.Limits.Calls || len(id) > maxAskedID {
		l.crowded = true
		return
	}
	l.asked[gateway.IDKey(id)] = bytes.Clone(id)
}

// dropped handles an answer to no open call: it is late, or was never requested.
func (l *serverConn) dropped(m *wire.Message) {
	l.mu.Lock()
	key := gateway.IDKey(m.ID())
	late := l.late.keys[key]
	delete(l.late.keys, key)
	if late {
		l.up.CountLate()
		l.lates++
	} else {
		l.strays++
	}
	strays := l.strays
	l.mu.Unlock()
	if !late && strays <= maxStrays {
		l.up.Stray(l.ctx, m.Bytes(), l.session)
	}
}

// malformed handles a line that is not a message. If it looks like an answer it ends the call; otherwise it is noise.
func (l *serverConn) malformed(m *wire.Message) {
	if units, ok := m.SplitBatch(); ok {
		for _, unit := range units {
			part := wire.Parse(unit, l.up.Options.Limits.Message)
			l.failAnswered(&part, malformedError(wireflaw.Batch))
		}
		return
	}
	rest := l.unglue(m.Bytes())
	if len(rest) == 0 {
		return
	}
	if len(rest) < len(m.Bytes()) {
		cut := wire.Parse(rest, l.up.Options.Limits.Message)
		m = &cut
	}
	p := l.takeAnswered(m)
	switch {
	case p == nil:
		l.logNoise(m.Bytes(), true)
	case p.call == nil:
		p.own(nil)
	default:
		l.closeBadly(p, m)
	}
}

// maxNoiseLines is the number of lines that are logged.
const maxNoiseLines = 10

// logNoise counts a line that is not a message, or the beginning of one, and logs the first few. Clients do not see them.
func (l *serverConn) logNoise(line []byte, whole bool) {
	if l.noise.Add(1) <= maxNoiseLines {
		l.up.Options.Logger.WarnContext(l.ctx, "the server printed a line that is not a JSON-RPC message",
			slog.String("noise", gateway.Excerpt(l.up.Secrets.Load().Redact(line), whole, gateway.MaxNoiseBytes)))
	}
}

// closeBadly ends a call with a malformed answer. A failure in it is kept. A malformed success is an error, except in
// observe mode.
func (l *serverConn) closeBadly(p *pending, m *wire.Message) {
	defer l.rescue(p)
	e := malformedError(m.Malformation().Flaw)
	answer := p.call.Read(m)
	switch {
	case answer.Verdict() != contract.VerdictClean:
		l.closeWith(p, &answer)
	case p.call.MayPass(m):
		p.call.FailSilently(l.ctx, e, m.Bytes())
		l.client.queue(m.Bytes())
	default:
		l.fail(p, e)
	}
}

// oversize handles a line that was too long to keep.
func (l *serverConn) oversize(line framing.Line) {
	id := framing.PeekID(line.Head, line.Tail)
	if id == nil {
		l.logNoise(line.Head, false)
		return
	}
	if p := l.take(gateway.IDKey(id)); p != nil {
		l.fail(p, gateway.OversizeError(l.up.MaxBytes()).With(candor.WithDetails(map[string]any{"maxBytes": l.up.MaxBytes(), "bytes": line.Size})))
	}
}

// failAnswered ends the call that a message was meant to answer, if there is one.
func (l *serverConn) failAnswered(m *wire.Message, e *candor.Error) {
	if p := l.takeAnswered(m); p != nil {
		l.fail(p, e)
	}
}

// takeAnswered removes and returns the call that a message seems to answer. A message may name several ids, so it ends
// the call and is not delivered.
func (l *serverConn) takeAnswered(m *wire.Message) *pending {
	if shape := m.Shape(); shape == wire.KindRequest || shape == wire.KindNotification {
		return nil
	}
	if m.ID() != nil {
		return l.take(gateway.IDKey(m.ID()))
	}
	for name, value := range m.Value().Members() {
		if name.Is("id") {
			if p := l.take(gateway.IDKey(wire.ID(value.Raw()))); p != nil {
				return p
			}
		}
	}
	return nil
}

func (l *serverConn) fail(p *pending, e *candor.Error) {
	if p.call == nil {
		p.own(nil)
		return
	}
	l.client.queue(p.call.Fail(l.ctx, e))
}

// malformedError returns the error for an answer that cannot be delivered.
func malformedError(flaw wireflaw.Flaw) *candor.Error {
	return gateway.NewError(candor.CodeUpstreamMalformed, "flaw", flaw.String(), "reason", flaw.Reason())
}

// passReady forwards the line by which a JSON-RPC harness announces that it is ready, and reports whether m is that
// line. It is not a message, but clients of such a server wait for it. It is forwarded once per client, and only as the
// first line of a server: after a restart the client is already connected.
func (l *serverConn) passReady(m *wire.Message, first bool) bool {
	if !first || l.unordered || !isReady(m.Value()) || !l.announced.CompareAndSwap(false, true) {
		return false
	}
	l.client.queue(m.Bytes())
	return true
}

func isReady(v wire.Value) bool {
	return v.Path("type").Is("ready") && v.Path("methods").Type() == wire.TypeArray && !v.Path("jsonrpc").Present()
}
