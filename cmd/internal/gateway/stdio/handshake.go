package stdio

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// handshake remembers initialize and its answer, to replay them to a restarted server. It is safe for concurrent use.
type handshake struct {
	mu      sync.Mutex // guards the fields below
	hello   []byte     // the initialize request
	ready   []byte     // the notification that follows it
	id      wire.ID
	answer  initResult
	met     bool          // the server has answered initialize
	tools   bool          // the server declares tools
	meeting chan struct{} // closed when the server answers; nil if it was not asked or has answered
	late    bool          // a call has waited too long for initialize
}

// initResult holds the parts of an initialize result that a client relies on.
type initResult struct{ version, capabilities []byte }

// maxHello bounds the handshake that is kept for replay. A longer one is not replayed.
const maxHello = 1 << 20

// replayTimeout is how long a restarted server may take to answer initialize if [gateway.Options.StartTimeout] sets no limit.
const replayTimeout = 30 * time.Second

// request records the client's initialize.
func (h *handshake) request(c *gateway.Call) {
	if c.Method() != "initialize" || len(c.Bytes()) > maxHello {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hello, h.id, h.ready, h.met = bytes.Clone(c.Bytes()), bytes.Clone(c.ID()), nil, false
	h.meeting, h.late = make(chan struct{}), false
}

// response records the server's answer to initialize.
func (h *handshake) response(m *wire.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.Kind() == wire.KindResult {
		h.answer, h.met = readInitResult(m), true
		h.tools = m.Result().Path("capabilities", "tools").Present()
	}
	if h.meeting != nil {
		close(h.meeting)
		h.meeting = nil
	}
}

func (h *handshake) initialized(m *wire.Message) {
	if len(m.Bytes()) > maxHello {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready = bytes.Clone(m.Bytes())
}

// mayList reports whether the server may be asked for its tools: it is initialized and declares tools. If it has not answered
// initialize yet, meeting is closed when it does; meeting is nil after a call has waited too long for it.
func (h *handshake) mayList() (may bool, meeting <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.meeting != nil && !h.late {
		return false, h.meeting
	}
	return h.met && h.ready != nil && h.tools, nil
}

// missed notes that a call has waited too long for the answer to initialize.
func (h *handshake) missed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.late = true
}

var (
	errNoInitResult = errors.New("the restarted server did not answer initialize")
	errEarlyEnd     = errors.New("the restarted server ended before it answered initialize")
	errSessionEnded = errors.New("the session ended before the restarted server answered initialize")
)

// replay sends the client's handshake to a new server. The client does not see it. Same reports whether the new server returned
// the same version and capabilities as the old one.
func (h *handshake) replay(ctx context.Context, l *serverConn) (same bool, err error) {
	h.mu.Lock()
	hello, ready, id, before, met := h.hello, h.ready, h.id, h.answer, h.met
	h.mu.Unlock()
	if !met {
		return true, nil // the client has not completed the handshake
	}
	now := make(chan *initResult, 1)
	p := newPending(id, gateway.OrDefault(l.up.Options.StartTimeout, replayTimeout), func(m *wire.Message) {
		if m == nil || m.Kind() != wire.KindResult {
			now <- nil
			return
		}
		g := readInitResult(m)
		now <- &g
	})
	if l.put(p) != nil {
		return false, errNoInitResult
	}
	l.server.send(hello)
	select {
	case g := <-now:
		if g == nil {
			return false, errNoInitResult
		}
		l.server.send(ready)
		return bytes.Equal(g.version, before.version) && bytes.Equal(g.capabilities, before.capabilities), nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func readInitResult(m *wire.Message) initResult {
	return initResult{
		version:      bytes.Clone(m.Result().Path("protocolVersion").Raw()),
		capabilities: bytes.Clone(m.Result().Path("capabilities").Raw()),
	}
}
