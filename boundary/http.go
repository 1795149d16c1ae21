package boundary

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/hostguard"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

const (
	defaultMaxBody = 4 << 20
	firstRead      = 64 << 10 // initial buffer for a body, before its length is known
	peekBytes      = 4 << 10
)

// HTTP wraps the http.Handler of an SDK, stateful or stateless, with events or plain JSON. The wrapper checks Host, Origin, method,
// content type and size. It answers every rejected POST with a JSON-RPC error and the original status, records and counts the errors
// that the SDK answers itself, restores request ids as they were sent, and answers a panic with an error.
//
// A success is sent unchanged, and events are sent as they are written. The handler's 401, 403 and 405 responses, and all responses
// to GET and DELETE except events, are sent unchanged, because they belong to the authorization of the server. CORS must be handled
// by an outer handler.
//
// The SDK's check of the Host header does not know [Options.Hosts]. If the server is behind a proxy, switch it off with
// DisableLocalhostProtection. [Handler] does so.
func (b *Boundary) HTTP(next http.Handler) http.Handler { return b.layer(next) }

func (b *Boundary) layer(next http.Handler) *httpLayer {
	l := &httpLayer{b: b, next: next, max: b.o.MaxMessage}
	if l.max <= 0 {
		l.max = defaultMaxBody
	}
	l.room = newRoom(l.max)
	l.gate = newCallGate(b.o.MaxCalls, &b.results)
	return l
}

// httpLayer wraps one handler.
type httpLayer struct {
	b    *Boundary
	next http.Handler
	max  int

	open     *openAnswers  // nil if open calls are not answered when the server stops
	patience time.Duration // time limit for reading a body; 0 leaves it to the http.Server
	replays  replays
	room     room
	gate     *callGate
}

func (l *httpLayer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, l: l, r: r, mark: [1]string{throughNonce}}
	if no := l.b.admit(r); no != nil {
		if no.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", allowedMethods)
		}
		a.turnAway(no, nil)
		return
	}
	var body []byte
	if r.Method == http.MethodPost {
		var ok bool
		body, ok = l.read(a)
		defer a.place.shrink(0)
		if !ok || !l.start(a) {
			return
		}
		defer a.endTicket()
	}
	l.pass(a, a.onward(body))
}

// start waits until the call may run. If the gate has no space in time, it answers the call and returns false.
func (l *httpLayer) start(a *answer) bool {
	if a.asked.Shape() != wire.KindRequest || ungated(string(a.asked.Method())) {
		return true
	}
	t, ok := l.gate.tryStart()
	if !ok {
		ctx, cancel := context.WithTimeout(a.r.Context(), callWait)
		t, ok = l.gate.start(ctx)
		cancel()
	}
	if !ok {
		a.Header().Set("Retry-After", "1")
		a.refuse(http.StatusServiceUnavailable, candor.New(candor.CodeTooManyCalls, "", candor.WithOrigin(candor.PartyServer, false),
			candor.WithDetails(map[string]any{"limit": l.gate.max})), contract.VerdictProtocol, a.id())
		return false
	}
	a.ticket = t
	return true
}

// read reads the message of a POST and returns the bytes to pass on. It answers a body that is not a valid message and returns false.
func (l *httpLayer) read(a *answer) ([]byte, bool) {
	body, no := l.readBody(a)
	if no != nil {
		if no.status == http.StatusServiceUnavailable {
			a.Header().Set("Retry-After", "1")
		}
		a.turnAway(no, wire.PeekID(body[:min(len(body), peekBytes)], nil))
		return nil, false
	}
	m := wire.Parse(body, wire.Limits{MaxBytes: l.max, AllowLoneSurrogates: true})
	a.asked = &m
	if e := flawError(&m); e != nil {
		a.refuse(http.StatusBadRequest, e, contract.VerdictMalformed, teach.AnswerID(&m, e.Code()))
		return nil, false
	}
	if hidden := l.b.hideIDs(&m); hidden != nil {
		a.hidden, body = true, hidden
	}
	return body, true
}

// readBody reads at most the allowed number of bytes, and allocates no more memory than was received. For a refused body it returns
// the beginning, which may contain an id.
func (l *httpLayer) readBody(a *answer) ([]byte, *refusal) {
	defer hurry(a, l.patience)()
	want := min(max(a.r.ContentLength, 0), firstRead)
	buf := bytes.NewBuffer(make([]byte, 0, want+bytes.MinRead))
	limit := int64(l.max)
	if a.r.ContentLength > limit {
		limit = peekBytes // enough for the id; the remaining bytes are not read
	}
	body := http.MaxBytesReader(a.ResponseWriter, a.r.Body, limit)
	_, err := buf.ReadFrom(io.LimitReader(body, smallBody+1))
	if err == nil && buf.Len() > smallBody {
		var no *refusal
		if no, err = l.readOn(a, buf, body); no != nil {
			return buf.Bytes(), no
		}
	}
	if err == nil {
		return buf.Bytes(), nil
	}
	var over *http.MaxBytesError
	server := candor.WithOrigin(candor.PartyServer, false)
	switch {
	case errors.As(err, &over):
		return buf.Bytes(), &refusal{http.StatusRequestEntityTooLarge, candor.New(candor.CodeMessageTooLarge, "", server,
			candor.WithDetails(map[string]any{"maxBytes": l.max}))}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &refusal{http.StatusRequestTimeout, candor.New(candor.CodeTimeout, "The request did not arrive in time.", server)}
	}
	return nil, &refusal{http.StatusBadRequest, candor.New(candor.CodeParseError, "", server, candor.WithCause(err))}
}

// readOn reads the remaining bytes of a large body, after it has reserved their size. The read deadline limits how long the
// reservation is held.
func (l *httpLayer) readOn(a *answer, buf *bytes.Buffer, body io.Reader) (no *refusal, err error) {
	size := a.r.ContentLength
	if size < 0 {
		size = int64(l.max) // the length is unknown, so reserve the maximum
	}
	defer hurry(a, cmp.Or(l.patience, bodyPatience))()
	if a.place, no = l.room.take(a.r.Context(), size); no != nil {
		_, _ = io.Copy(io.Discard, body) // many clients read the response only after sending the whole body
		return no, nil
	}
	_, err = buf.ReadFrom(body)
	a.place.shrink(int64(buf.Len()))
	return nil, err
}

// hurry sets a deadline for reading the body; zero sets none. The caller must call takeBack after reading, because the deadline would
// also end the stream of events that follows.
func hurry(a *answer, patience time.Duration) (takeBack func()) {
	if patience <= 0 {
		return func() {}
	}
	rc := http.NewResponseController(a.ResponseWriter)
	_ = rc.SetReadDeadline(time.Now().Add(patience))
	return func() { _ = rc.SetReadDeadline(time.Time{}) }
}

// onward returns the request to pass to the handler. It is a copy, because the received request belongs to the caller. Its mark
// replaces any that the client sent.
func (a *answer) onward(body []byte) *http.Request {
	out := new(http.Request)
	*out = *a.r
	out.Header = maps.Clone(a.r.Header)
	out.Header[throughHeader] = a.mark[:]
	if body != nil {
		out.Body = &messageBody{Reader: *bytes.NewReader(body), message: body}
		out.ContentLength = int64(len(body))
	}
	return out
}

// messageBody is a request body that was read completely, with its bytes for inner handlers.
type messageBody struct {
	bytes.Reader
	message []byte
}

// Close does nothing.
func (*messageBody) Close() error { return nil }

var _ io.ReadCloser = (*messageBody)(nil)

// pass calls the handler, answers its panic, and finishes the answer.
func (l *httpLayer) pass(a *answer, r *http.Request) {
	httpCalls.add(a)
	l.open.add(a)
	defer func() {
		v := recover()
		if l.open.remove(a) || v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(v) //nolint:forbidigo // net/http ends the connection for this value
		}
		a.thrown(outcome{thrown: v, stack: panicStack()})
	}()
	l.next.ServeHTTP(a, r)
	if !l.open.remove(a) {
		a.finish()
	}
}

// refusal is the error for a request that is refused before its message is read.
type refusal struct {
	status int
	err    *candor.Error
}

// verdict returns the verdict under which the refusal is counted. A lack of memory is not a fault of the message.
func (no *refusal) verdict() contract.Verdict {
	if no.status == http.StatusServiceUnavailable {
		return contract.VerdictProtocol
	}
	return contract.VerdictMalformed
}

const allowedMethods = "GET, POST, DELETE"

// admit checks Host and Origin, which a web page cannot forge, then the token, then the method and content type. It returns nil if
// the request may be read.
func (b *Boundary) admit(r *http.Request) *refusal {
	server := candor.WithOrigin(candor.PartyServer, false)
	guard := hostguard.Guard{Hosts: b.o.Hosts, Origins: b.o.Origins}
	switch {
	case !guard.KnowsHost(r.Host):
		return &refusal{http.StatusForbidden, candor.New(candor.CodeHostRefused, "", server)}
	case !guard.KnowsOrigin(r):
		return &refusal{http.StatusForbidden, candor.New(candor.CodeOriginRefused, "", server)}
	case b.o.Token != "" && !hostguard.Bears(r.Header, b.o.Token):
		return &refusal{http.StatusUnauthorized, candor.New(candor.CodeTokenRequired, "", server)}
	}
	switch r.Method {
	case http.MethodGet, http.MethodDelete:
		return nil
	case http.MethodPost:
		return readable(r.Header)
	}
	return &refusal{http.StatusMethodNotAllowed, candor.New(candor.CodeMethodNotAllowed, "", server,
		candor.WithDetails(map[string]any{"allowed": strings.Split(allowedMethods, ", ")}))}
}

// readable returns a refusal for a body that is not unencoded JSON.
func readable(h http.Header) *refusal {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	coding := h.Get("Content-Encoding")
	if err == nil && kind == "application/json" && (coding == "" || strings.EqualFold(coding, "identity")) {
		return nil
	}
	return &refusal{http.StatusUnsupportedMediaType, candor.New(candor.CodeMediaTypeUnsupported, "",
		candor.WithOrigin(candor.PartyServer, false))}
}

const (
	smallBody = 64 << 10 // smaller bodies are not counted
	bodyRoom  = 32 << 20 // limit for all larger ones together; decoding a body takes several times its size
	roomWait  = 5 * time.Second
)

// room limits the bytes of requests that are held at the same time: those of large bodies over HTTP, where small bodies are not
// counted, and those of all requests on a stream. A request that gets no space within the wait is refused with UNAVAILABLE.
type room struct {
	size int64
	free *semaphore.Weighted
	wait time.Duration
}

func newRoom(largest int) room {
	size := max(bodyRoom, int64(largest))
	return room{size: size, free: semaphore.NewWeighted(size), wait: roomWait}
}

// place is the reservation of one request. The zero place holds nothing.
type place struct {
	r    *room
	size int64
}

// take reserves size bytes, or returns the refusal to send if none become free in time.
func (r *room) take(ctx context.Context, size int64) (place, *refusal) {
	if r.free.TryAcquire(size) {
		return place{r, size}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	if r.free.Acquire(ctx, size) != nil {
		return place{}, &refusal{http.StatusServiceUnavailable, candor.New(candor.CodeUnavailable, "Too many large requests are under way.",
			candor.WithOrigin(candor.PartyServer, false), candor.WithDetails(map[string]any{"bytesAtOnce": r.size}))}
	}
	return place{r, size}, nil
}

// shrink releases all but need bytes.
func (p *place) shrink(need int64) {
	if need < p.size {
		p.r.free.Release(p.size - need)
		p.size = need
	}
}
