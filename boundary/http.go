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
	firstRead      = 64 << 10 // what is set aside before a body has proved its length
	peekBytes      = 4 << 10
)

// HTTP puts the boundary around an SDK's http.Handler, stateful or stateless, with events or plain JSON. In front of it every
// rejection of a POST is a JSON-RPC error with its status kept; what the SDK answers by itself is recorded and counted;
// Host, Origin, method, content type and size are checked; ids come back as they were sent; a panic is an answer.
//
// A success passes byte for byte, events as they are written. 401, 403 and 405 of the handler, and all it says to GET and
// DELETE that is no event, pass untouched: they belong to whoever guards the door. CORS is the business of a handler outside.
//
// The SDK's own check of the Host header knows nothing of [Options.Hosts]: switch it off with DisableLocalhostProtection if
// the server stands behind a proxy. [Handler] has done so.
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

// httpLayer stands around one handler.
type httpLayer struct {
	b    *Boundary
	next http.Handler
	max  int

	open     *openAnswers  // nil if open calls are not given up when the server stops
	patience time.Duration // how long a body may take to arrive; 0 leaves it to the http.Server
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

// start waits until the call may run. It answers one that gets no space in time, and reports false.
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

// read reads the message of a POST and answers it if it is none. It returns the bytes to pass on.
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

// readBody reads no more than is allowed, and sets no more memory aside than was really sent. Of a body that is refused it returns the
// beginning, which may hold an id.
func (l *httpLayer) readBody(a *answer) ([]byte, *refusal) {
	defer hurry(a, l.patience)()
	want := min(max(a.r.ContentLength, 0), firstRead)
	buf := bytes.NewBuffer(make([]byte, 0, want+bytes.MinRead))
	limit := int64(l.max)
	if a.r.ContentLength > limit {
		limit = peekBytes // enough for the id: the rest is refused unread
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

// readOn reads the rest of a body that has proved to be large, if there is room for it. Nobody holds room longer than a body may take.
func (l *httpLayer) readOn(a *answer, buf *bytes.Buffer, body io.Reader) (no *refusal, err error) {
	size := a.r.ContentLength
	if size < 0 {
		size = int64(l.max) // it does not say, so it may be
	}
	defer hurry(a, cmp.Or(l.patience, bodyPatience))()
	if a.place, no = l.room.take(a.r.Context(), size); no != nil {
		_, _ = io.Copy(io.Discard, body) // many clients hear of a refusal only when they have sent everything
		return no, nil
	}
	_, err = buf.ReadFrom(body)
	a.place.shrink(int64(buf.Len()))
	return nil, err
}

// hurry sets the time within which a body has to arrive; zero leaves it as it is. The caller takes it back, or the stream that follows
// would end with it.
func hurry(a *answer, patience time.Duration) (takeBack func()) {
	if patience <= 0 {
		return func() {}
	}
	rc := http.NewResponseController(a.ResponseWriter)
	_ = rc.SetReadDeadline(time.Now().Add(patience))
	return func() { _ = rc.SetReadDeadline(time.Time{}) }
}

// onward is the request that the handler gets: a copy, because what was received belongs to the caller. Its mark is
// always ours, whatever the client sent.
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

// messageBody is a body that has been read, for those who would look at it again.
type messageBody struct {
	bytes.Reader
	message []byte
}

// Close does nothing: there is nothing to release.
func (*messageBody) Close() error { return nil }

var _ io.ReadCloser = (*messageBody)(nil)

// pass lets the handler answer, and survives it.
func (l *httpLayer) pass(a *answer, r *http.Request) {
	httpCalls.add(a)
	l.open.add(a)
	defer func() {
		v := recover()
		if l.open.remove(a) || v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(v) //nolint:forbidigo // the way net/http has to end a connection
		}
		a.thrown(outcome{thrown: v, stack: panicStack()})
	}()
	l.next.ServeHTTP(a, r)
	if !l.open.remove(a) {
		a.finish()
	}
}

// refusal is a request that is turned away before anybody reads it.
type refusal struct {
	status int
	err    *candor.Error
}

// verdict is what it is counted as: that the server has no room is no fault of the message.
func (no *refusal) verdict() contract.Verdict {
	if no.status == http.StatusServiceUnavailable {
		return contract.VerdictProtocol
	}
	return contract.VerdictMalformed
}

const allowedMethods = "GET, POST, DELETE"

// admit looks at what a browser cannot forge, then at the token, then at the form of the request. It returns nil if the request may be read.
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

// readable refuses a body that is not JSON as it is.
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
	smallBody = 64 << 10 // smaller ones are not counted
	bodyRoom  = 32 << 20 // for all that are; what is made of a body in memory is several times as large
	roomWait  = 5 * time.Second
)

// room limits the bytes of requests that are held at the same time: of large bodies over HTTP, where small calls pass by, and of all
// requests on a stream. A request that gets no space within the wait is refused with UNAVAILABLE.
type room struct {
	size int64
	free *semaphore.Weighted
	wait time.Duration
}

func newRoom(largest int) room {
	size := max(bodyRoom, int64(largest))
	return room{size: size, free: semaphore.NewWeighted(size), wait: roomWait}
}

// place is the share of one request. The zero place holds nothing.
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

// shrink gives back all but need bytes.
func (p *place) shrink(need int64) {
	if need < p.size {
		p.r.free.Release(p.size - need)
		p.size = need
	}
}
