// Package bridge serves stdio MCP servers to HTTP clients: one process per session, or one that all sessions share.
package bridge

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/wire"
)

// Options configures how a stdio server is served over HTTP. The zero value starts one server per session, for clients
// on this machine.
type Options struct {
	// HTTP configures which clients are served, and how much memory and how many connections they may use. Sessions
	// defaults to 32 here, and SessionIdleTimeout to 30 minutes. Header and Transport are not used.
	HTTP httpgate.Options

	// Shared serves all sessions with one server, which is initialized by the first client. Ids and progress tokens are made
	// unique before they are sent to the server and restored in its answers. Notifications from the server go to all sessions, so
	// they must not contain secrets of one of them; requests from the server are refused, because it cannot name the client.
	Shared bool

	ServerRequestTimeout time.Duration // how long a request from the server waits for a stream of the client; 0 means 30 seconds
	MaxQueued            int           // number of messages that wait for a stream of the client, per queue; 0 means 256
}

func (o *Options) fill() {
	o.HTTP.Sessions, o.HTTP.SessionIdleTimeout = gateway.OrDefault(o.HTTP.Sessions, 32), gateway.OrDefault(o.HTTP.SessionIdleTimeout, 30*time.Minute)
	o.ServerRequestTimeout, o.MaxQueued = gateway.OrDefault(o.ServerRequestTimeout, 30*time.Second), gateway.OrDefault(o.MaxQueued, 256)
}

// Bridge serves a stdio server to HTTP clients; see [New].
type Bridge struct {
	handler *httpgate.Handler // checks requests, reads bodies and writes answers; it has no upstream URL
	up      *gateway.Upstream
	child   stdio.Child
	o       Options
	ctx     context.Context // context of all servers
	end     context.CancelFunc
	work    sync.WaitGroup // goroutines of all servers

	stateless pool // the server of clients without a session
	shared    pool // the server of all sessions, if they share one

	mu           sync.Mutex // guards the fields below
	sessions     map[string]*session
	hosts        map[*host]bool // running servers
	sessionCount int            // sessions, including those whose server has not ended yet
	closing      bool
}

// New returns a bridge that serves the server described by child over streamable HTTP, on every path. Servers are
// started on demand.
//
// A client of protocol version 2025-11-25 or older begins a session with initialize, and gets a separate server. While one call
// is open, notifications and requests from the server go to the stream of that call; otherwise to the newest stream that the
// client has opened by GET. Until there is one they wait, for a limited time. Streams cannot be resumed. A session ends by
// DELETE, with its server, or when it was not used for [httpgate.Options.SessionIdleTimeout]; its id is then answered with 404, and clients
// begin a new one. A server that ends is restarted first if [stdio.Child.Restart] allows it.
//
// Clients of version 2026-07-28 have no session. They share one server if it answers server/discover; otherwise the
// error lists the versions that they may use.
//
// The caller must call [Bridge.Close] when the bridge is no longer used.
func New(u *gateway.Upstream, child stdio.Child, o Options) *Bridge {
	child.Fill()
	o.fill()
	door := httpgate.New(u, nil, o.HTTP)
	b := &Bridge{handler: door, up: u, child: child, o: o, sessions: map[string]*session{}, hosts: map[*host]bool{}}
	b.ctx, b.end = context.WithCancel(context.Background())
	b.stateless.starting, b.shared.starting = make(chan struct{}, 1), make(chan struct{}, 1)
	b.work.Go(b.sweepLoop)
	return b
}

// Close ends all sessions. New calls are refused. Open calls may finish until ctx is done or [stdio.Child.Drain] has passed, and
// are answered in any case. When Close returns, the servers and all processes that they have started have ended.
func (b *Bridge) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closing = true
	running := slices.Collect(maps.Keys(b.hosts))
	b.mu.Unlock()
	for _, h := range running {
		h.server.HangUp()
	}
	stop := context.AfterFunc(ctx, b.end)
	defer stop()
	for _, h := range running {
		<-h.ended
	}
	b.end()
	b.work.Wait()
	return nil
}

// Keeps reports whether a request belongs to a session of this bridge.
func (b *Bridge) Keeps(r *http.Request) bool {
	return b.session(r.Header.Get(httpgate.SessionHeader)) != nil
}

// ServeHTTP serves a request from a client.
func (b *Bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{b: b, Exchange: &httpgate.Exchange{Handler: b.handler, Writer: w, Request: r, Context: r.Context(), Session: r.Header.Get(httpgate.SessionHeader)}}
	x.Serve(x)
}

// exchange is one request from a client to a bridge.
type exchange struct {
	*httpgate.Exchange
	b *Bridge
}

// Post forwards one message from a client to its server.
func (x *exchange) Post() {
	body, ok := x.ReadBody()
	if !ok {
		return
	}
	m := wire.Parse(body, x.b.up.Options.Limits.Message)
	switch {
	case m.Kind() == wire.KindMalformed:
		x.Respond(http.StatusBadRequest, x.b.up.Malformed(x.Context, &m, x.Session))
	case x.Session != "":
		x.inSession(&m)
	case m.Kind() == wire.KindRequest && m.MethodIs("initialize"):
		x.beginSession(&m)
	case isStateless(x.Request.Header, &m):
		x.withoutSession(&m)
	default:
		x.refuse(&m, http.StatusBadRequest, gateway.NewError(candor.CodeInvalidRequest, "reason", "the header Mcp-Session-Id is missing"))
	}
}

// refuse answers a message that is not forwarded with an error.
func (x *exchange) refuse(m *wire.Message, status int, e *candor.Error) {
	var id wire.ID
	if m.Kind() == wire.KindRequest {
		id = bytes.Clone(m.ID())
	}
	x.Respond(status, x.b.up.Reject(x.Context, id, x.Session, e))
}

// fail answers a request that was not forwarded, in the form that its caller expects.
func (x *exchange) fail(m *wire.Message, e *candor.Error) {
	x.Respond(http.StatusOK, x.b.up.NewCall(m, x.Session).Fail(x.Context, e))
}

// End ends a session. The server has ended before the client gets the response.
func (x *exchange) End() {
	s := x.b.session(x.Session)
	if s == nil {
		x.Reject(http.StatusNotFound, common.SessionNotFound)
		return
	}
	x.b.finish(s)
	stdio.Within(x.b.handler.Options.ClientTimeout, func() { <-s.ended })
	x.Respond(http.StatusOK, nil)
}
