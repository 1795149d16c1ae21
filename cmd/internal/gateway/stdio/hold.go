package stdio

import (
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// holds takes a call that cannot be checked yet, because the server's tools are not known or the tool's schema is not compiled, and
// reports whether it did. The call is open from here on: its deadline, its cancellation and the end of the server end it. Other
// messages of the client pass it, but not the calls of tools that follow on the same stream.
func (p *clientConn) holds(l *serverConn, c *gateway.Call) bool {
	if !c.IsTool() || p.up.Options.Mode == gateway.ModeObserve || !p.up.ChecksAny() {
		return false
	}
	before := p.last
	if isClosed(before) && !p.lacks(l, c) {
		return false
	}
	held := &pending{call: c, key: gateway.IDKey(c.ID()), limit: c.Timeout(), began: time.Now(), waiting: true, unsent: true}
	held.due = held.began.Add(held.limit)
	if token := c.ProgressToken(); token != nil {
		held.token = gateway.IDKey(token)
	}
	if e := l.put(held); e != nil {
		p.client.queue(c.Fail(p.ctx, e))
		return true
	}
	if l.cancelledEarly(held.key) && l.giveUp(held) {
		c.Cancelled(p.ctx)
		return true
	}
	sent := make(chan struct{})
	if !p.unordered {
		p.last = sent
	}
	go func() {
		defer close(sent)
		p.prepare(l, c, before)
		p.release(l, held)
	}()
	return true
}

// isClosed reports that nothing has to be waited for. A nil channel counts as closed.
func isClosed(done <-chan struct{}) bool {
	if done == nil {
		return true
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// prepare waits until a call can be checked and the call before it was sent, but no longer than this call may wait.
func (p *clientConn) prepare(l *serverConn, c *gateway.Call, before <-chan struct{}) {
	limit := c.CheckTimeout()
	until := time.Now().Add(limit)
	wait := func(done <-chan struct{}) bool { return p.waitFor(done, time.Until(until)) }
	if !p.waitFor(before, limit+limit/4) || !p.learn(l, c, wait) { // the call before it may wait too, and is sent first
		return
	}
	if done := c.CompileSchema(&p.tools, p.callerOf(c)); done != nil {
		wait(done)
	}
}

// waitFor reports whether done, which may be nil, was closed in time.
func (p *clientConn) waitFor(done <-chan struct{}, limit time.Duration) bool {
	if isClosed(done) {
		return true
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
	case <-p.ctx.Done():
	}
	return false
}

// release sends a held call, or answers it if it is refused. Nothing happens if it has ended meanwhile.
func (p *clientConn) release(l *serverConn, held *pending) {
	if !l.claim(held) {
		return
	}
	defer l.work.Done()
	held.call.FindTools(&p.tools, p.callerOf(held.call)) // not before: until then others could have ended the call
	refusal := p.admit(held.call)
	switch over, revoked := l.decided(held, refusal == nil); {
	case refusal != nil:
		l.client.send(refusal)
	case over != nil:
		l.client.send(held.call.Fail(l.ctx, held.reason(over)))
	case revoked:
		held.call.Cancelled(l.ctx)
	default:
		l.server.send(held.call.Bytes())
	}
}

// claim keeps others from ending a held call while it is decided what becomes of it. It is false if the call has ended already.
func (l *serverConn) claim(held *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[held.key] != held {
		return false
	}
	held.deciding = true
	l.work.Add(1) // under the lock, so that the end of the link waits for it or has come before
	return true
}

// decided ends a decision that claim began. A call that is sent stays open, unless the connection is closed or the
// client has cancelled the call.
func (l *serverConn) decided(held *pending, sent bool) (over *candor.Error, revoked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held.deciding = false
	switch {
	case l.over != nil: // which has taken it from the table
	case !sent, held.revoked:
		l.remove(held)
	default:
		held.waiting, held.unsent = false, false
		l.watch(held) // its time may have passed meanwhile
	}
	return l.over, held.revoked
}

// reason is the error of a call that the end of the link ends: one that was never sent had no effect.
func (p *pending) reason(e *candor.Error) *candor.Error {
	switch {
	case p.unsent && e.Code() == candor.CodeUpstreamGone:
		return goneBefore(e)
	case !p.unsent && e.Code() == candor.CodeGatewayDraining:
		return p.call.InterruptedError()
	default:
		return e
	}
}
