// Package httpgate forwards HTTP requests from MCP clients to an MCP server over streamable HTTP or legacy SSE. It checks
// requests, limits memory and connections, and moves messages and events; package gateway decides about calls and answers.
package httpgate

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// Options configures a [Handler]: which clients it serves, and how much memory and how many connections they may use.
// The zero value serves clients on this machine, without a token.
type Options struct {
	Hosts   []string // host names to accept besides those of this machine; "*" accepts any
	Origins []string // origins of web pages to accept; "*" accepts any. Pages on this machine may call, but not read.
	Token   string   // bearer token required in every request; "" means none. It is not forwarded.

	// Header is set on every request to the upstream and replaces headers from the client.
	Header http.Header
	// Transport sends requests to the upstream. It must not follow redirects. Nil means an [http.Transport].
	Transport http.RoundTripper

	Sessions           int           // maximum number of sessions; default 10,000
	Streams            int           // maximum number of streams opened by GET; default 4,096
	Calls              int           // maximum number of open calls; default 4,096
	MessageMemory      int64         // memory for messages in bytes, half of it for requests; default 32 MiB
	SessionIdleTimeout time.Duration // how long an unused session is kept; default one hour
	ClientTimeout      time.Duration // how long a client may take to send a message or to read a response; default 30 seconds
}

func (o *Options) fill() {
	o.Sessions, o.Streams, o.Calls = gateway.OrDefault(o.Sessions, 10_000), gateway.OrDefault(o.Streams, 4096), gateway.OrDefault(o.Calls, 4096)
	o.MessageMemory = gateway.OrDefault(o.MessageMemory, 32<<20)
	o.SessionIdleTimeout, o.ClientTimeout = gateway.OrDefault(o.SessionIdleTimeout, time.Hour), gateway.OrDefault(o.ClientTimeout, 30*time.Second)
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			DisableCompression: true, MaxIdleConns: 256, MaxIdleConnsPerHost: 256,
			IdleConnTimeout:     4 * time.Second, // servers close idle connections, some after 5 seconds
			TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10, OnProxyConnectResponse: noteConnect,
		}
	}
}

// New returns a handler that forwards requests to the upstream at target, which uses streamable HTTP or legacy SSE. It
// serves every path. Headers, session ids, event ids, status codes and streams are forwarded unchanged, and so are the
// bytes of every clean message. [Options] determines which clients are served.
//
// A failed call is answered with JSON-RPC. A rejection by the upstream keeps its status, except for a tool call: its
// failure is a result, and clients read results only with status 200. 401, 403, 405 and the 404 of an unknown session
// always keep status and headers, because clients use them to log in and to begin a new session. The rest of a
// rejection is cleaned or withheld, depending on the mode.
func New(u *gateway.Upstream, target *url.URL, o Options) *Handler {
	o.fill()
	if target != nil { // a bridge has none
		if v := gateway.HTTPSecrets(o.Header, target); v != nil {
			u.Secrets.Store(v)
		}
	}
	d := &Handler{up: u, Options: o, target: target, guard: httpguard.Guard{Hosts: o.Hosts, Origins: o.Origins, Token: o.Token, By: candor.PartyGateway}}
	d.requests, d.answers = httpguard.NewSplitBudget(o.MessageMemory/2, o.ClientTimeout), httpguard.NewSplitBudget(o.MessageMemory/2, o.ClientTimeout)
	d.sessions.most, d.legacy.most = o.Sessions, o.Sessions
	return d
}

// Handler serves one upstream to HTTP clients.
type Handler struct {
	up      *gateway.Upstream
	Options Options
	target  *url.URL
	guard   httpguard.Guard

	sessions sessionTable // by Mcp-Session-Id
	legacy   sessionTable // by the key in the message address sent to the client
	Calls    atomic.Int64
	Streams  atomic.Int64
	requests *httpguard.SplitBudget
	answers  *httpguard.SplitBudget // and events
}

func (d *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &Exchange{Handler: d, Writer: w, Request: r, Context: r.Context(), Session: r.Header.Get(SessionHeader), target: d.target}
	x.Serve(x)
}

// Methods serves the HTTP methods: Post takes a message, Listen opens a stream of messages, and End ends a session.
type Methods interface {
	Post()
	Listen()
	End()
}

// Serve checks a request, passes it to what, and recovers from panics.
func (x *Exchange) Serve(what Methods) {
	defer x.recoverPanic()
	defer x.release()
	if x.preflight() {
		return
	}
	if no := x.Handler.guard.Check(x.Request); no != nil {
		x.refuse(no)
		return
	}
	switch x.Request.Method {
	case http.MethodPost:
		what.Post()
	case http.MethodGet:
		what.Listen()
	default:
		what.End()
	}
}

// SessionHeader is the header with the session id.
const SessionHeader = "Mcp-Session-Id"

// recoverPanic recovers from a panic, so that other calls continue.
func (x *Exchange) recoverPanic() {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) //nolint:forbidigo // the way net/http has to end a connection
	}
	x.Handler.up.LogPanic(x.Context, "serving a request", v)
	if x.call != nil && !x.call.Ended() {
		x.sendAnswer(x.call.Fail(x.Context, gateway.NewError(candor.CodeInternalError)))
	}
}

// Keeps reports whether a request is a message of a legacy session, whose answers come on a stream that this handler holds open.
func (d *Handler) Keeps(r *http.Request) bool {
	key := r.URL.Query().Get(legacyKey)
	return key != "" && d.legacy.get(key) != nil
}
