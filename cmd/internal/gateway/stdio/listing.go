package stdio

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/wire"
)

const (
	listTimeout = 30 * time.Second // timeout of the gateway's tools/list requests; calls wait less
	listPages   = 100
	maxListing  = 64 // callers for which the gateway lists tools on one connection
)

// listing tracks the gateway's tools/list requests on one connection. The zero listing is ready to use.
type listing struct {
	mu    sync.Mutex
	asked map[gateway.Caller]chan struct{} // guarded by mu; closed when the list has arrived or has failed
	mute  bool                             // guarded by mu; the server has not answered tools/list, and is not asked again
}

// begin returns a channel that is closed when the caller's list has arrived, and whether the gateway must request it
// now. The channel is nil if the server must not be asked.
func (g *listing) begin(who gateway.Caller) (done chan struct{}, ask bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.asked[who] != nil:
		return g.asked[who], false
	case g.mute, len(g.asked) >= maxListing:
		return nil, false
	case g.asked == nil:
		g.asked = map[gateway.Caller]chan struct{}{}
	}
	done = make(chan struct{})
	g.asked[who] = done
	return done, true
}

// isCurrent reports whether the requested list is still wanted.
func (g *listing) isCurrent(who gateway.Caller, done chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked[who] == done
}

// wanted reports whether a list can still be requested, or is being requested.
func (g *listing) wanted(who gateway.Caller) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mute {
		return false
	}
	done := g.asked[who]
	return done == nil && len(g.asked) < maxListing || done != nil && !isClosed(done)
}

// silence notes that the server did not answer tools/list in time.
func (g *listing) silence() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mute = true
}

// forget allows the tools to be requested again, because the server has announced that they changed.
func (g *listing) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = nil
}

// peer returns the origin of a request. Clients that share a server over one stream are distinguished by the client
// data in _meta, which is all that the server sees of them.
func (p *clientConn) peer(m *wire.Message, session string, trace gateway.Trace) gateway.Peer {
	who := gateway.Caller{Session: p.session}
	if p.shared && (m.MethodIs("tools/call") || m.MethodIs("tools/list")) {
		who.Digest = sha256.Sum256(about(m))
	}
	return gateway.Peer{Session: session, Breaker: p.breaker, Cache: &p.tools, Caller: who, Trace: trace}
}

// lacks reports whether a call must wait before it can be checked.
func (p *clientConn) lacks(l *serverConn, c *gateway.Call) bool {
	if p.up.Options.Validate == gateway.ValidationOff && !p.up.ChecksArguments(c.Tool()) {
		return false
	}
	if c.HasTools() {
		return c.NeedsSchema()
	}
	if may, meeting := p.mayList(c); !may && meeting == nil {
		return false
	}
	return l.listing.wanted(p.callerOf(c))
}

func (p *clientConn) callerOf(c *gateway.Call) gateway.Caller {
	return p.peer(c.Request(), c.Session(), gateway.Trace{}).Caller
}

// mayList is like [handshake.mayList] for a call, which may be of a protocol version without a handshake.
func (p *clientConn) mayList(c *gateway.Call) (may bool, meeting <-chan struct{}) {
	if c.Request().Params().Path("_meta", gateway.ProtocolVersionKey).Present() {
		return true, nil
	}
	return p.handshake.mayList()
}

// learn requests the tools of the caller if they are unknown, so that arguments can be checked from the first call on.
// It waits for initialize and for the list, and returns false if that takes too long: the call is then forwarded
// unchecked. A list that arrives later is still used.
func (p *clientConn) learn(l *serverConn, c *gateway.Call, wait func(<-chan struct{}) bool) bool {
	may, meeting := p.mayList(c)
	if meeting != nil {
		if !wait(meeting) {
			p.handshake.missed()
			return false
		}
		may, _ = p.mayList(c)
	}
	who := p.callerOf(c)
	if !p.tools.Knows(who) && may {
		done, ask := l.listing.begin(who)
		if ask {
			l.listPage(&listRequest{who: who, meta: about(c.Request()), pages: listPages, done: done}, "")
		}
		if !wait(done) {
			l.listing.silence()
			return false
		}
	}
	return true
}

// listRequest is a tools/list request from the gateway.
type listRequest struct {
	who   gateway.Caller
	meta  []byte // copied from the caller's request
	pages int    // number of pages that may still follow
	done  chan struct{}
}

// listPage requests a page of the tool list, and then all further ones.
func (l *serverConn) listPage(r *listRequest, cursor string) {
	id := jsontext.AppendString(nil, "candor/"+ref.New())
	p := newPending(id, listTimeout, func(m *wire.Message) {
		if m == nil || m.Kind() != wire.KindResult || !l.listing.isCurrent(r.who, r.done) {
			close(r.done)
			return
		}
		l.tools.Learn(r.who, m.Result(), cursor)
		next, more, ok := gateway.NextCursor(m.Result())
		if r.pages--; !ok || !more || next == cursor || r.pages <= 0 {
			close(r.done)
			return
		}
		l.listPage(r, next)
	})
	if l.put(p) != nil {
		close(r.done)
		return
	}
	l.server.send(appendRequest(nil, id, "tools/list", r.params(cursor)))
}

// params returns the parameters of the request for one page.
func (r *listRequest) params(cursor string) []byte {
	var members [][]byte
	if cursor != "" {
		members = append(members, jsontext.AppendString([]byte(`"cursor":`), cursor))
	}
	if r.meta != nil {
		members = append(members, append([]byte(`"_meta":`), r.meta...))
	}
	return slices.Concat([]byte{'{'}, bytes.Join(members, []byte{','}), []byte{'}'})
}

// about returns the client data that protocol version 2026-07-28 requires in the _meta of every request, or nil.
func about(m *wire.Message) []byte {
	var members [][]byte
	for _, name := range gateway.ClientMetaKeys {
		if value := m.Params().Path("_meta", name).Raw(); value != nil {
			members = append(members, append(append(jsontext.AppendString(nil, name), ':'), value...))
		}
	}
	if members == nil {
		return nil
	}
	return slices.Concat([]byte{'{'}, bytes.Join(members, []byte{','}), []byte{'}'})
}
