// Package httpgate forwards HTTP requests of MCP clients to an MCP server over streamable HTTP or legacy SSE. It checks requests, limits memory
// and connections, and moves messages and events; package gateway decides about calls and answers.
package httpgate

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/http1"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/hostguard"
)

// Options configures a [Handler]: which clients it serves, and how much memory and how many connections they may use.
// The zero value serves clients on this machine, without a token.
type Options struct {
	Hosts   []string // host names to accept besides those of this machine; "*" accepts any
	Origins []string // origins of web pages to accept; "*" accepts any. Pages of this machine may call, but not read.
	Token   string   // bearer token that every request needs; "" is none. It is not forwarded.

	// Header is set on every request to the upstream, in place of what the client sent.
	Header http.Header
	// Transport sends requests to the upstream. It must not follow redirects. Nil is a [http1.Client], or a [http.Transport] if a proxy is
	// to be used.
	Transport http.RoundTripper
	// Proxy returns the proxy for a request to the upstream, nil if there is none; nil is [http.ProxyFromEnvironment].
	Proxy func(*http.Request) (*url.URL, error)

	Sessions int           // that are known at a time: 10,000
	Streams  int           // opened by GET, at a time: 4,096
	Calls    int           // open at a time: 4,096
	Hold     int64         // bytes that messages take together, half of it requests: 32 MiB
	Rest     time.Duration // how long an unused session is remembered: an hour
	Patience time.Duration // how long a client may take to send a message, or to read what was written: 30 seconds
}

func (o *Options) fill() {
	if o.Sessions <= 0 {
		o.Sessions = 10_000
	}
	if o.Streams <= 0 {
		o.Streams = 4096
	}
	if o.Calls <= 0 {
		o.Calls = 4096
	}
	if o.Hold <= 0 {
		o.Hold = 32 << 20
	}
	if o.Rest <= 0 {
		o.Rest = time.Hour
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
}

// transport returns the transport for an upstream. The decision is made once: the environment of a process does not change.
func (o *Options) transport(target *url.URL) http.RoundTripper {
	if o.Transport != nil {
		return o.Transport
	}
	if proxy, err := o.Proxy(&http.Request{URL: target}); proxy == nil && err == nil {
		return &http1.Client{}
	}
	return &http.Transport{
		Proxy: o.Proxy, DisableCompression: true, MaxIdleConns: 256, MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     4 * time.Second, // servers close idle connections, some after 5 seconds
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// New returns a handler that forwards requests to the upstream at target, which speaks streamable HTTP or legacy SSE.
// It serves every path. Headers, session ids, event ids, status codes and streams are forwarded unchanged, and so are
// the bytes of every clean message. [Options] says which clients are served.
//
// A failed call is answered with JSON-RPC. A rejection by the upstream keeps its status, except for a tool call: its
// failure is a result, and clients read results only with status 200. 401, 403, 405 and the 404 of an unknown session
// always keep status and headers, because clients use them to log in and to begin a new session. The rest of a
// rejection is cleaned or withheld, depending on the mode.
func New(u *gateway.Upstream, target *url.URL, o Options) *Handler {
	o.fill()
	if target != nil { // a bridge has none
		o.Transport = o.transport(target)
		if v := gateway.HTTPSecrets(o.Header, target); v != nil {
			u.Secrets.Store(v)
		}
	}
	d := &Handler{up: u, Options: o, target: target, guard: hostguard.Guard{Hosts: o.Hosts, Origins: o.Origins}}
	d.requests, d.answers = newBodyBudget(o.Hold/2, o.Patience), newBodyBudget(o.Hold/2, o.Patience)
	d.sessions.most, d.legacy.most = o.Sessions, o.Sessions
	return d
}

// Handler serves one upstream to HTTP clients.
type Handler struct {
	up      *gateway.Upstream
	Options Options
	target  *url.URL
	guard   hostguard.Guard

	sessions sessionTable // by Mcp-Session-Id
	legacy   sessionTable // by the key in the address that we have given out for the upstream's
	Calls    atomic.Int64
	Streams  atomic.Int64
	requests bodyBudget
	answers  bodyBudget // and events
}

func (d *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &Exchange{Handler: d, Writer: w, Request: r, Context: r.Context(), Session: r.Header.Get(SessionHeader), target: d.target}
	x.Serve(x)
}

// Methods is what a request can want: to post a message, to listen for messages, to end a session.
type Methods interface {
	Post()
	Listen()
	End()
}

// Serve has a request done that may be made at all, and outlives it.
func (x *Exchange) Serve(what Methods) {
	defer x.recoverPanic()
	defer x.release()
	if x.preflight() {
		return
	}
	if no := x.Handler.check(x.Request); no != nil {
		x.Reject(no)
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

// SessionHeader is the header with the id of a session.
const SessionHeader = "Mcp-Session-Id"

// recoverPanic recovers from a panic, so that other calls go on.
func (x *Exchange) recoverPanic() {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) //nolint:forbidigo // the way net/http has to end a connection
	}
	x.Handler.up.Options.Logger.ErrorContext(x.Context, "a request was given up", slog.String("upstream", x.Handler.up.Options.Name),
		slog.String("panic", contract.Bound(fmt.Sprint(v), gateway.MaxNoiseBytes)))
	if x.call != nil && !x.call.Ended() {
		x.sendAnswer(x.call.Fail(x.Context, gateway.InternalError()))
	}
}

// Keeper reports which requests belong to a session that only this handler can serve. A handler that is replaced keeps
// serving those.
type Keeper interface {
	Keeps(r *http.Request) bool
}

// Keeps reports a message of a legacy session, whose answers come on a stream that this handler holds open.
func (d *Handler) Keeps(r *http.Request) bool {
	key := r.URL.Query().Get(legacyKey)
	return key != "" && d.legacy.get(key) != nil
}
