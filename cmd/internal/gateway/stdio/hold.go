package stdio

import (
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// holds holds a call that cannot be checked yet, because the server's tools are unknown or the tool's schema is not
// compiled, and reports whether it did. The call is open from then on: its deadline, its cancellation and the end of
// the server end it. Other messages from the client overtake it, except for later tool calls on the same stream.
func (p *clientConn) holds(l *serverConn, c *gateway.Call) bool {
	if !c.IsTool() || p.up.Options.Mode == gateway.ModeObserve || !p.up.ChecksAny() {
		return false
	}
	before := p.last
	if isClosed(before) && !p.lacks(l, c) {
		return false
	}
	held := newPendingCall(c)
	held.waiting, held.unsent = true, true
	if e := l.put(held); e != nil {
		p.client.queue(c.Fail(p.ctx, e))
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

// isClosed reports whether a channel is closed. A nil channel counts as closed.
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

// prepare waits until a call can be checked and the previous call was sent, but no longer than this call may wait.
func (p *clientConn) prepare(l *serverConn, c *gateway.Call, before <-chan struct{}) {
	limit := c.CheckTimeout()
	until := time.Now().Add(limit)
	wait := func(done <-chan struct{}) bool { return p.waitFor(done, time.Until(until)) }
	if !p.waitFor(before, limit+limit/4) || !p.learn(l, c, wait) { // the previous call may wait too, and is sent first
		return
	}
	c.CompileSchema(&p.tools, p.callerOf(c))
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

// release sends a held call, or answers it if it is refused. It does nothing if the call has already ended.
func (p *clientConn) release(l *serverConn, held *pending) {
	if !l.claim(held) {
		return
	}
	defer l.work.Done()
	held.call.FindTools(&p.tools, p.callerOf(held.call)) // not earlier: until the claim, another goroutine could have ended the call
	refusal := held.call.Admit(p.ctx, true)
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

// claim prevents other goroutines from ending a held call while its fate is decided. It returns false if the call has
// already ended.
func (l *serverConn) claim(held *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[held.key] != held {
		return false
	}
	held.deciding = true
	l.work.Add(1) // under the lock, so that the end of the connection either waits for it or has already happened
	return true
}

// decided ends a decision that claim began. A call that is sent stays open, unless the connection is closed or the
// client has cancelled the call.
func (l *serverConn) decided(held *pending, sent bool) (over *candor.Error, revoked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held.deciding = false
	switch {
	case l.over != nil: // which has removed it from the table
	case !sent, held.revoked:
		l.remove(held)
	default:
		held.waiting, held.unsent = false, false
		l.watch(held) // it may have become due in the meantime
	}
	return l.over, held.revoked
}

// reason returns the error for a call that is open when the connection ends. A call that was never sent had no effect.
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
