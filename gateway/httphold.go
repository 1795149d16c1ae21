package gateway

import (
	"context"
	"errors"
	"io"
	"sync"
)

// holding bounds the memory that large messages take together: who comes when it is used up waits. Small ones are not worth
// the accounting; how many there can be at once is bounded elsewhere.
type holding struct {
	most int64

	mu    sync.Mutex
	used  int64         // guarded by mu
	freed chan struct{} // guarded by mu: closed when something was given back, nil if nobody waits
}

// take waits until there is room for n bytes. One is let in whatever it needs, or it would wait for ever.
func (h *holding) take(ctx context.Context, n int64) error {
	for {
		h.mu.Lock()
		if h.used == 0 || h.used+n <= h.most {
			h.used += n
			h.mu.Unlock()
			return nil
		}
		if h.freed == nil {
			h.freed = make(chan struct{})
		}
		freed := h.freed
		h.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (h *holding) giveBack(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used -= n
	if h.freed != nil {
		close(h.freed)
		h.freed = nil
	}
}

var (
	errTooLarge = errors.New("a message is too large")
	errNoRoom   = errors.New("too many large messages are held")
)

const firstRead = 64 << 10 // what is set aside before a body has proved its length, and is not accounted for

// hold reads a message of no more than limit bytes, of which said are announced, -1 if it is not known. The error is
// errTooLarge if there was more; then the bytes are the start. What is held is given back by letGo.
func (x *httpExchange) hold(r io.Reader, said, limit int64) ([]byte, error) {
	buf := make([]byte, 0, min(max(said, 512), firstRead)+1)
	for {
		n, err := r.Read(buf[len(buf):min(int64(cap(buf)), limit+1)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return buf[:limit], errTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		case len(buf) < cap(buf):
			continue
		case len(buf) > firstRead && x.held == 0:
			if err := x.hoard(said, limit); err != nil {
				return nil, err
			}
		}
		buf = append(buf, 0)[:len(buf)]
	}
}

// hoard sets the room for a large message aside, all at once: who took it piece by piece could wait for others that wait.
func (x *httpExchange) hoard(said, limit int64) error {
	need := said
	if said < 0 || said > limit {
		need = limit
	}
	ctx, cancel := context.WithTimeoutCause(x.ctx, x.d.o.Patience, errNoRoom)
	defer cancel()
	if err := x.d.holds.take(ctx, need); err != nil {
		return err
	}
	x.held = need
	return nil
}

// letGo gives back what is held.
func (x *httpExchange) letGo() {
	if x.held > 0 {
		x.d.holds.giveBack(x.held)
		x.held = 0
	}
}
