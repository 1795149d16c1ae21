package bridge

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/wire"
)

// pool is a server that several clients share. It is started for the first client.
type pool struct {
	starting chan struct{} // held while the server is started and initialized

	mu    sync.Mutex // guards the fields below
	host  *host
	used  time.Time
	users int       // number of current users
	until time.Time // not used before this time, because the server requires sessions
}

// enter returns the server. It starts the server if necessary and calls greet once for each server. The caller must call leave.
func (p *pool) enter(ctx context.Context, b *Bridge, greet func(*host) error) (*host, error) {
	select {
	case p.starting <- struct{}{}:
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), gateway.ErrDraining) {
			return nil, gateway.DrainingError()
		}
		return nil, ctx.Err()
	}
	defer func() { <-p.starting }()
	p.mu.Lock()
	p.users++
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

func (p *pool) leave(b *Bridge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users--
	p.used = b.up.Options.Now()
}

// stopIdle ends a server that was not used since old.
func (p *pool) stopIdle(old time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host != nil && p.users == 0 && p.used.Before(old) && p.host.unused() {
		p.host.stop()
		p.host = nil
	}
}

// runs reports whether the server has not ended and is not being stopped.
func (h *host) runs() bool {
	if h.server.Gone() != nil {
		return false
	}
	select {
	case <-h.ended:
		return false
	case <-h.server.Context().Done():
		return false
	default:
		return true
	}
}

func (h *host) unused() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions) == 0 && len(h.calls) == 0
}

// joinSession begins a session with the shared server. The first client's initialize is forwarded without client capabilities,
// because the server's requests could not be delivered to a client. Later clients get the same answer.
func (x *exchange) joinSession(s *session, m *wire.Message) {
	p := &x.b.shared
	var first []byte // the answer, if this is the first client
	h, err := p.enter(x.Context, x.b, func(h *host) (err error) {
		first, err = x.initializeServer(h, m)
		return err
	})
	if err == nil {
		defer p.leave(x.b)
		if !s.join(h) {
			err = h.endError()
		}
	}
	if err != nil {
		s.close()
	}
	switch {
	case errors.Is(err, errNotInitialized):
		if first != nil {
			x.Respond(http.StatusOK, first)
		}
	case err != nil:
		x.failToStart(m, err)
	default:
		x.b.remember(s)
		x.answerInitialize(s, m, first)
	}
}

// initializeServer initializes a server with the request of its first client, and returns the answer.
func (x *exchange) initializeServer(h *host, m *wire.Message) ([]byte, error) {
	hello := wire.Parse(gateway.WithMember(m.Bytes(), []byte("{}"), "params", "capabilities"), x.b.up.Options.Limits.Message)
	c, e := h.forward(&hello, nil, x.Session, false, gateway.Trace{})
	if e != nil {
		return nil, e
	}
	answer := x.last(c)
	if said := wire.Parse(answer, x.b.up.Options.Limits.Message); said.Kind() != wire.KindResult {
		return answer, errNotInitialized
	}
	ready := wire.Parse([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), wire.Limits{})
	h.server.Notify(&ready)
	h.initAnswer = answer
	return answer, nil
}

// answerInitialize answers initialize with the server's answer, or a copy of the answer to the first client.
func (x *exchange) answerInitialize(s *session, m *wire.Message, answer []byte) {
	if answer == nil {
		c, refusal := x.b.up.Admit(x.Context, m, s.id)
		if c == nil {
			x.b.finish(s)
			x.Respond(http.StatusOK, refusal)
			return
		}
		answer = c.Close(x.Context, gateway.WithMember(s.host.initAnswer, m.ID(), "id")).Bytes
	}
	x.Writer.Header().Set(httpgate.SessionHeader, s.id)
	x.Respond(http.StatusOK, answer)
}

var errNotInitialized = errors.New("the server did not answer initialize")
