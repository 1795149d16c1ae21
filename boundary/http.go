package boundary

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/wire"
)

const (
	defaultMaxBody     = 4 << 20
	defaultBodyTimeout = 30 * time.Second
	peekBytes          = 4 << 10
)

// HTTP wraps the http.Handler of an SDK, stateful or stateless, with events or plain JSON. The wrapper checks Host, Origin, method,
// content type and size. It answers every rejected POST with a JSON-RPC error and the original status, records and counts the errors
// that the SDK answers itself, restores request ids as they were sent, and answers a panic with an error.
//
// A success is sent unchanged, and events are sent as they are written. The handler's 401, 403 and 405 responses, and
// all responses to GET and DELETE except events, are sent unchanged, because they belong to the authorization of the
// server. CORS must be handled by an outer handler.
//
// The SDK's check of the Host header does not know [Options.Hosts]. If the server is behind a proxy, switch it off with
// DisableLocalhostProtection. [Handler] does so.
func (b *Boundary) HTTP(next http.Handler) http.Handler {
	l := &httpLayer{b: b, next: next, max: b.o.MaxMessage, bodyTimeout: defaultBodyTimeout, limit: newCallLimit(b.o.MaxCalls)}
	if l.max <= 0 {
		l.max = defaultMaxBody
	}
	l.budget = newBudget(l.max, smallBody)
	l.guard = httpguard.Guard{Hosts: b.o.Hosts, Origins: b.o.Origins, Token: b.o.Token, By: candor.PartyServer}
	return l
}

// httpLayer wraps one handler.
type httpLayer struct {
	b    *Boundary
	next http.Handler
	max  int

	bodyTimeout time.Duration // for reading a body

	budget httpguard.Budget
	guard  httpguard.Guard
	limit  *callLimit
}

func (l *httpLayer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, l: l, r: r, mark: [1]string{"1"}}
	if no := l.guard.Check(r); no != nil {
		a.refuseUnread(no, nil)
		return
	}
	var body []byte
	if r.Method == http.MethodPost {
		var ok bool
		body, ok = l.read(a)
		defer l.budget.Release(&a.reserved)
		if !ok || !l.start(a) {
			return
		}
		defer a.end()
	}
	l.pass(a, a.onward(body))
}

// start waits until the call may run. If it may not in time, start answers it and returns false.
func (l *httpLayer) start(a *answer) bool {
	if a.asked.Shape() != wire.KindRequest || ungated(string(a.asked.Method())) {
		return true
	}
	if ctx := a.r.Context(); a.start(ctx, l.limit, httpCallWait) && a.await(ctx, httpCallWait) {
		return true
	}
	a.end()
	a.Header().Set("Retry-After", "1")
	a.refuse(http.StatusServiceUnavailable, l.limit.tooManyCalls(), contract.VerdictProtocol, a.id())
	return false
}

// read reads the message of a POST and returns the bytes to pass on. It answers a body that is not a valid message and returns false.
func (l *httpLayer) read(a *answer) ([]byte, bool) {
	body, no := l.readBody(a)
	if no != nil {
		a.refuseUnread(no, framing.PeekID(body[:min(len(body), peekBytes)], nil))
		return nil, false
	}
	m := wire.Parse(body, wire.Limits{MaxBytes: l.max, AllowLoneSurrogates: true})
	a.asked = &m
	if e := flawError(&m); e != nil {
		a.refuse(http.StatusBadRequest, e, contract.VerdictMalformed, argerror.AnswerID(&m, e.Code()))
		return nil, false
	}
	if hidden := hideIDs(&m); hidden != nil {
		a.hidden, body = true, hidden
	}
	return body, true
}

// readBody reads at most the allowed number of bytes, and allocates no more memory than was received. For a refused
// body it returns the beginning, which may contain an id.
func (l *httpLayer) readBody(a *answer) ([]byte, *httpguard.Refusal) {
	rc := http.NewResponseController(a.ResponseWriter)
	_ = rc.SetReadDeadline(time.Now().Add(l.bodyTimeout))
	defer func() { _ = rc.SetReadDeadline(time.Time{}) }() // it would also end the stream of events that follows
	limit, said := int64(l.max), a.r.ContentLength
	if said > limit {
		limit = peekBytes // enough for the id; the remaining bytes are not read
	}
	body, err := httpguard.ReadBody(a.r.Body, said, limit, func(size int64) error {
		return l.budget.Reserve(a.r.Context(), &a.reserved, size)
	})
	switch {
	case err == nil:
		_ = l.budget.Reserve(a.r.Context(), &a.reserved, min(a.reserved, int64(len(body)))) // only growth may fail
		return body, nil
	case errors.Is(err, httpguard.ErrTooLarge):
		a.Header().Set("Connection", "close")
	case errors.Is(err, httpguard.ErrBudget):
		_, _ = io.CopyN(io.Discard, a.r.Body, limit) // many clients read the response only after sending the whole body
	}
	return body, l.guard.RefuseBody(err, l.max)
}

// onward returns the request to pass to the handler. It is a copy, because the received request belongs to the caller.
// Its mark replaces any that the client sent.
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
	if a.asked != nil && a.asked.Shape() == wire.KindRequest {
		passedCalls.add(&a.mark[0], &a.passed)
	}
	defer func() {
		passedCalls.remove(&a.mark[0])
		v := recover()
		if v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(v) //nolint:forbidigo // net/http ends the connection for this value
		}
		a.thrown(thrownError(v))
	}()
	l.next.ServeHTTP(a, r)
	a.finish()
}

// refusalVerdict returns the verdict under which a refusal is counted. A lack of memory is not a fault of the message.
func refusalVerdict(no *httpguard.Refusal) contract.Verdict {
	if no.Status == http.StatusServiceUnavailable {
		return contract.VerdictProtocol
	}
	return contract.VerdictMalformed
}

const (
	smallBody     = httpguard.Midsize + 1 // the first buffer of [httpguard.ReadBody]; bodies of up to this size are not counted
	bodyBudget    = 32 << 20              // limit for all larger ones together; decoding a body takes several times its size
	budgetTimeout = 5 * time.Second
)

// newBudget returns the budget for the requests that are held at the same time, of which the largest may have that many
// bytes. Those up to the size small are not counted.
func newBudget(largest int, small int64) httpguard.Budget {
	return httpguard.Budget{Limit: max(bodyBudget, int64(largest)), Timeout: budgetTimeout, Small: small}
}
