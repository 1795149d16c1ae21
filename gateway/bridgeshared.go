package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// bridgePool is a server that several clients share, started when the first of them comes.
type bridgePool struct {
	turn chan struct{} // held by who starts the server, or makes its acquaintance

	mu    sync.Mutex // guards all below
	host  *bridgeHost
	hello []byte // what it answered to the first handshake
	used  time.Time
	asks  int       // how many are served
	until time.Time // it cannot be shared in this way, and nobody tries again before then
}

// enter returns the server, started if need be and met by greet, which is called once for each server. The caller calls leave.
func (p *bridgePool) enter(ctx context.Context, b *Bridge, greet func(*bridgeHost) error) (*bridgeHost, error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-p.turn }()
	p.mu.Lock()
	p.asks++
	h := p.host
	p.mu.Unlock()
	if h != nil && h.runs() {
		return h, nil
	}
	h, err := b.host(nil)
	if err == nil {
		err = greet(h)
	}
	if err != nil {
		if h != nil {
			h.stop()
		}
		p.leave(b)
		return nil, err
	}
	p.mu.Lock()
	p.host = h
	p.mu.Unlock()
	return h, nil
}

func (p *bridgePool) leave(b *Bridge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asks--
	p.used = b.up.o.now()
}

// rest ends a server that nobody has used since then.
func (p *bridgePool) rest(old time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host != nil && p.asks == 0 && p.used.Before(old) && p.host.unused() {
		p.host.stop()
		p.host = nil
	}
}

// runs reports that a server has not ended, and has not been told to.
func (h *bridgeHost) runs() bool {
	select {
	case <-h.ended:
		return false
	case <-h.pump.ctx.Done():
		return false
	default:
		return true
	}
}

func (h *bridgeHost) unused() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions) == 0 && len(h.calls) == 0
}

// joinSession begins a session with the server that all share. The first client's handshake is the server's, with no
// capabilities of the client: nobody could tell whom the server asks. Others are answered with what the server said then.
func (x *bridgeExchange) joinSession(s *bridgeSession, m *wire.Message) {
	p := &x.b.shared
	var refusal []byte
	h, err := p.enter(x.ctx, x.b, func(h *bridgeHost) error {
		answer, err := x.introduce(h, m)
		if err != nil {
			refusal = answer
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hello = answer
		return nil
	})
	switch {
	case refusal != nil:
		s.close()
		x.answer(http.StatusOK, refusal)
		return
	case err != nil && x.ctx.Err() != nil:
		s.close()
		return
	case err != nil:
		s.close()
		x.cannotStart(m, err)
		return
	}
	defer p.leave(x.b)
	if !s.join(h) {
		s.close()
		x.answer(http.StatusOK, x.b.up.newCall(m, s.id).Fail(x.ctx, draining()))
		return
	}
	x.b.remember(s)
	p.mu.Lock()
	hello := p.hello
	p.mu.Unlock()
	x.greeted(m, hello)
}

// introduce makes a server's acquaintance in the words of its first client. If it does not succeed the answer is for that client.
func (x *bridgeExchange) introduce(h *bridgeHost, m *wire.Message) ([]byte, error) {
	plain, err := wire.SetMember(nil, m.Bytes(), []string{"params", "capabilities"}, []byte("{}"))
	if err != nil {
		plain = m.Bytes()
	}
	hello := wire.Parse(plain, x.b.up.o.Limits.Message)
	c, e := h.open(&hello, nil, false)
	if e != nil {
		return x.b.up.newCall(m, x.session).Fail(x.ctx, e), errNoGreeting
	}
	c.send(x.session)
	answer := x.last(c)
	if said := wire.Parse(answer, x.b.up.o.Limits.Message); said.Kind() != wire.KindResult {
		return answer, errNoGreeting
	}
	ready := wire.Parse([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), wire.Limits{})
	h.pump.notification(&ready)
	h.pump.flush()
	return answer, nil
}

// greeted answers initialize with what the server said to the first who asked.
func (x *bridgeExchange) greeted(m *wire.Message, hello []byte) {
	answer, err := wire.SetMember(nil, hello, []string{"id"}, m.ID())
	if err != nil {
		answer = hello
	}
	x.w.Header().Set(sessionHeader, x.session)
	x.answer(http.StatusOK, answer)
}
