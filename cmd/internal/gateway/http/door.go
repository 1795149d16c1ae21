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

// Options says how a door to an upstream is guarded, and what peers may make it hold. The zero value is good: it answers
// this machine alone, without a token.
type Options struct {
	Hosts   []string // names this door is known by, beside those of this machine; "*" is any
	Origins []string // web pages that may ask and read the answers, beside those of this machine that may ask; "*" is any
	Token   string   // what every request must bear in its Authorization header; "" is none. It is not passed on.

	// Header is set on every request to the upstream, in place of what the client sent.
	Header http.Header
	// Transport sends requests to the upstream; nil is a client of our own. It must not follow redirects.
	Transport http.RoundTripper

	Sessions int           // that are known at a time: 10,000
	Streams  int           // opened by GET, at a time: 4,096
	Calls    int           // open at a time: 4,096
	Hold     int64         // bytes that messages take together, half of it requests: 32 MiB
	Rest     time.Duration // after which a session that nobody uses is forgotten: an hour
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
	if o.Transport == nil {
		o.Transport = newTransport()
	}
}

func newTransport() http.RoundTripper {
	return &http1.Client{}
}

// Door serves the upstream, whose streamable HTTP or legacy SSE end is at target, to HTTP clients. It answers on every path it
// is asked at. Headers, session ids, event ids, status codes and streaming pass untouched, and every clean message as the
// bytes it came in; see [Options] for who is answered.
//
// A call that failed is answered with JSON-RPC. Of a rejection by the upstream the status is kept, except that of a tool: its
// failure is a result, and clients read results only of a success. 401, 403, 405 and the 404 of an unknown session keep status
// and headers in any case: they are how clients log in and begin again. What else the upstream says with a rejection is
// cleaned or withheld as the mode has it.
func New(u *gateway.Upstream, target *url.URL, o Options) *Handler {
	o.fill()
	if target != nil { // a bridge has none
		if v := gateway.HTTPSecrets(o.Header, target); v != nil {
			u.Secrets.Store(v)
		}
	}
	d := &Handler{up: u, Options: o, target: target, guard: hostguard.Guard{Hosts: o.Hosts, Origins: o.Origins}}
	d.requests, d.answers = newBodyBudget(o.Hold/2, o.Patience), newBodyBudget(o.Hold/2, o.Patience)
	d.sessions.most, d.legacy.most = o.Sessions, o.Sessions
	return d
}

// Handler is the door to one upstream.
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
	defer x.survive()
	defer x.letGo()
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

const SessionHeader = "Mcp-Session-Id"

// survive keeps a fault of ours from taking the other calls with it.
func (x *Exchange) survive() {
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
		x.tell(x.call.Fail(x.Context, gateway.InternalError()))
	}
}
