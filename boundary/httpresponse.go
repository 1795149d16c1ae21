package boundary

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// answer is the ResponseWriter that is passed to the handler. It belongs to one request; like any ResponseWriter, it
// must not be used by several goroutines at the same time.
type answer struct {
	http.ResponseWriter
	l     *httpLayer
	r     *http.Request // as received
	asked *wire.Message // the message of a POST, nil for other methods
	// hidden reports that the id of the request was replaced.
	hidden   bool
	reserved int64 // bytes of the budget that a large body holds
	passed
	// mark is the value of throughHeader. Its address identifies the request inside the SDK.
	mark [1]string

	mode   answerMode
	status int
	kind   string // media type of the answer
	held   []byte // written by the handler and not yet sent
}

// answerMode is the way in which the handler's output is treated.
type answerMode uint8

const (
	answerOpen   answerMode = iota // the handler has written nothing
	answerPassed                   // sent unchanged
	answerHeld                     // held until it is complete
	answerEvents                   // sent event by event
)

const (
	writePiece   = 256 << 10
	writeTimeout = 30 * time.Second
)

// maxHeld is the maximum size of an answer that is held. Longer answers are sent unchanged.
const maxHeld = wire.DefaultMaxBytes

// Unwrap returns the underlying ResponseWriter, for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader chooses the mode of the answer and sends the status, unless the answer is held.
func (a *answer) WriteHeader(status int) {
	if a.mode == answerOpen && status >= 200 {
		a.status, a.kind = status, httpguard.MediaType(a.Header())
		a.mode = a.choose()
	}
	if a.mode == answerEvents {
		a.Header().Del("Content-Length")
	}
	if a.mode != answerHeld {
		a.ResponseWriter.WriteHeader(status)
	}
}

func (a *answer) choose() answerMode {
	switch {
	case a.status == http.StatusOK && a.kind == "text/event-stream":
		return answerEvents
	case a.asked == nil || a.Header().Get("Content-Encoding") != "":
		return answerPassed
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden, a.status == http.StatusMethodNotAllowed:
		return answerPassed
	case a.status != http.StatusOK && a.status < 400:
		return answerPassed
	case a.kind == "application/json", a.status >= 400 && (a.kind == "text/plain" || a.kind == ""):
		return answerHeld
	}
	return answerPassed
}

// Write sends or holds p, depending on the mode.
func (a *answer) Write(p []byte) (int, error) {
	if a.mode == answerOpen {
		a.WriteHeader(http.StatusOK)
	}
	if a.mode == answerEvents {
		return a.writeEvents(p)
	}
	if a.mode == answerHeld {
		if a.holds(p) {
			a.held = append(a.held, p...)
			return len(p), nil
		}
		if err := a.release(); err != nil {
			return 0, err
		}
	}
	return a.write(p)
}

// write sends bytes to the client. A large answer is sent in pieces, each with a write deadline of writeTimeout, so
// that the connection of a client that does not read is closed.
func (a *answer) write(p []byte) (int, error) {
	if len(p) <= writePiece {
		return a.ResponseWriter.Write(p)
	}
	rc := http.NewResponseController(a.ResponseWriter)
	defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()
	sent := 0
	for sent < len(p) {
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))
		n, err := a.ResponseWriter.Write(p[sent:min(len(p), sent+writePiece)])
		sent += n
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// holds reports whether to hold p: for every rejection, and for a JSON answer that may not be a
// success by its first bytes.
func (a *answer) holds(p []byte) bool {
	if len(a.held)+len(p) > maxHeld {
		return false
	}
	return a.hidden || a.status >= 400 || len(a.held) > 0 || !isClean(p)
}

// release sends the held bytes unchanged. All bytes that follow are sent unchanged, too.
func (a *answer) release() error {
	a.mode = answerPassed
	a.ResponseWriter.WriteHeader(a.status)
	held := a.held
	a.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := a.write(held)
	return err
}

// Flush implements [http.Flusher]. It does not flush an answer that is held.
func (a *answer) Flush() { _ = a.FlushError() }

// FlushError is Flush for an http.ResponseController.
func (a *answer) FlushError() error {
	if a.mode == answerOpen {
		a.WriteHeader(http.StatusOK)
	}
	if a.mode == answerHeld {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// finish sends the held bytes after the handler has returned.
func (a *answer) finish() {
	switch {
	case a.mode == answerEvents && len(a.held) > 0: // the stream ended inside an event
		_, _ = a.write(a.held)
	case a.mode != answerHeld:
	case a.kind == "application/json":
		a.send(a.status, a.kind, a.rewrite(a.held))
	default:
		a.reject(string(a.held))
	}
}

// send writes a complete response.
func (a *answer) send(status int, kind string, body []byte) {
	a.mode = answerPassed
	h := a.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	a.ResponseWriter.WriteHeader(status)
	_, _ = a.write(body) // the client may have disconnected
}

// isClean reports whether a message is certainly not a JSON-RPC error, because a "result" or "method" member precedes
// any "error" in it. It searches the first bytes before the whole message.
func isClean(message []byte) bool {
	const near = 256
	for _, part := range [][]byte{message[:min(len(message), near)], message} {
		failed := bytes.Index(part, []byte(`"error":`))
		if failed < 0 {
			failed = len(part)
		}
		for _, member := range []string{`"result":`, `"method":`} {
			if bytes.Contains(part[:failed], []byte(member)) {
				return true
			}
		}
	}
	return false
}

// rewrite records a message that is about to be sent, if it is an error that was not recorded yet, and restores the ids.
func (a *answer) rewrite(message []byte) []byte {
	m := wire.Parse(message, wire.Limits{AllowLoneSurrogates: true})
	if m.Kind() == wire.KindError { // other bytes are passed on
		message = a.seal(&m)
	}
	return showIDs(message)
}

func (a *answer) seal(m *wire.Message) []byte {
	in := parsedRPCError(m.Error())
	if a.is(in.key()) || a.asked == nil && in.passedMiddleware() { // a stream that was opened by GET has the answers of other requests
		return m.Bytes()
	}
	out := a.l.b.seal(a.r.Context(), in, a.exchange())
	if out.code == in.code && out.message == in.message && bytes.Equal(out.data, in.data) {
		return m.Bytes()
	}
	return out.append(make([]byte, 0, len(out.data)+len(out.message)+128), m.ID())
}

// exchange describes the call. For a stream that was opened by GET, which carries the answers of many calls, it has only the session.
func (a *answer) exchange() exchange {
	x := exchange{session: a.r.Header.Get("Mcp-Session-Id")}
	if a.asked == nil {
		return x
	}
	x.method, x.params = candor.Public(string(a.asked.Method()), maxMethodName), a.asked.Params().Raw()
	if a.asked.MethodIs("tools/call") {
		x.tool, _ = a.asked.Params().Path("name").Str()
	}
	return x
}

// id returns the id to answer with, or nil.
func (a *answer) id() wire.ID {
	if a.asked == nil {
		return nil
	}
	return argerror.AnswerID(a.asked, 0)
}

// refuse answers a POST instead of the handler.
func (a *answer) refuse(status int, e *candor.Error, v contract.Verdict, id wire.ID) {
	out := a.l.b.refuse(a.r.Context(), e, v, a.exchange())
	a.send(status, "application/json", out.append(nil, id))
}

// refuseUnread answers a request with an unread message. The request may not be JSON-RPC, so a server with the problem
// dialect answers with a problem document.
func (a *answer) refuseUnread(no *httpguard.Refusal, id wire.ID) {
	b := a.l.b
	no.SetHeaders(a.Header())
	if b.o.Dialect.Name() != "problem" {
		a.refuse(no.Status, no.Err, refusalVerdict(no), id)
		return
	}
	x := a.exchange()
	e := b.stamp(b.refine(a.r.Context(), no.Err, &x), &x)
	document := b.document(e, no.Status)
	if audit := b.record(a.r.Context(), x.failure(e, refusalVerdict(no), document)); audit != nil {
		document = b.document(audit, no.Status)
	}
	a.send(no.Status, "application/problem+json", document)
}

// document encodes an error as an RFC 9457 document. Its status is that of the response, not that of the error's class.
func (b *Boundary) document(e *candor.Error, status int) []byte {
	document := b.o.Dialect.Write(nil, e, b.options())
	out, err := splice.SetMember(nil, document, []string{"status"}, strconv.AppendInt(nil, int64(status), 10))
	if err != nil {
		return document
	}
	return out
}

// thrown answers a request after a panic of its handler. If a part of the answer was sent, it closes the connection.
func (a *answer) thrown(e *candor.Error) {
	if a.mode == answerOpen || a.mode == answerHeld {
		a.refuse(http.StatusInternalServerError, e, contract.VerdictProtocol, a.id())
		return
	}
	a.l.b.suppress(a.r.Context(), e, contract.VerdictLost, a.exchange())
	panic(http.ErrAbortHandler) //nolint:forbidigo // net/http ends the connection for this value
}

// reject sends a plain-text rejection as a JSON-RPC error.
func (a *answer) reject(text string) {
	text = strings.TrimSpace(text)
	x := a.exchange()
	e := rejected(a.status, text, &x)
	if after, ok := httpguard.RetryAfter(a.Header(), time.Now()); ok {
		e = e.With(candor.WithRetry(candor.RetryIn(after)))
	}
	shown := rpcError{code: int64(e.Code().Info().RPCNumber), message: e.Message()}
	id := a.id()
	switch e.Code() {
	case candor.CodeProtocolVersionUnsupported:
		shown.data = versions(text, a.r.Header.Get("Mcp-Protocol-Version"))
	case common.SessionNotFound:
		// The go-sdk's client detects by the status that its session has ended, but only if the body does not answer
		// one of its calls. The protocol allows a body without id.
		id = nil
	}
	out := a.l.b.express(a.r.Context(), e, contract.VerdictProtocol, &x, shown)
	a.send(a.status, "application/json", out.append(nil, id))
}

// rejected returns the error for a rejection. The SDK's texts are replaced by those of the code; the text of another
// handler is kept for a status below 500.
func rejected(status int, text string, x *exchange) *candor.Error {
	code, known := rejection(status, text)
	server := candor.WithOrigin(candor.PartyServer, false)
	switch {
	case code == candor.CodeMethodNotFound:
		return read(rpcError{code: -32601}, x)
	case code == candor.CodeInvalidRequestParams:
		return read(rpcError{message: text}, x)
	case known:
		return candor.New(code, "", server)
	case status < 500:
		return candor.New(code, text, server)
	}
	return candor.New(code, "", server, candor.WithCauseText(candor.Cause{Message: text}))
}

// rejections lists the SDK's rejections. They are recognised by status and text.
var rejections = []struct {
	status   int
	contains string
	is       candor.Code
}{
	{http.StatusNotFound, "session not found", common.SessionNotFound},
	{http.StatusNotFound, "session is closing", common.SessionNotFound},
	{http.StatusBadRequest, "JSON RPC not handled", candor.CodeMethodNotFound},
	{http.StatusBadRequest, `missing required "params"`, candor.CodeInvalidRequestParams},
	{http.StatusBadRequest, "Unsupported protocol version", candor.CodeProtocolVersionUnsupported},
	{http.StatusBadRequest, "Accept must contain", candor.CodeMediaTypeUnsupported},
	{http.StatusBadRequest, "unexpected id for", candor.CodeInvalidRequest},
	{http.StatusBadRequest, "missing id for", candor.CodeInvalidRequest},
	{http.StatusBadRequest, "can't send Last-Event-ID", candor.CodeInvalidRequest},
}

// rejection returns the code for a plain-text rejection, and whether the text is the SDK's.
func rejection(status int, text string) (candor.Code, bool) {
	for _, r := range rejections {
		if r.status == status && strings.Contains(text, r.contains) {
			return r.is, true
		}
	}
	if code, ok := httpguard.StatusCodes[status]; ok {
		return code, false
	}
	if status < 500 {
		return candor.CodeInvalidRequest, false
	}
	return candor.CodeInternalError, false
}

// versions returns the data that the protocol requires in the error for an unsupported version.
func versions(text, requested string) []byte {
	data := []byte(`{"supported":[`)
	if _, list, ok := strings.Cut(text, "supported versions: "); ok {
		for i, version := range strings.Split(strings.TrimSuffix(list, ")"), ",") {
			if i > 0 {
				data = append(data, ',')
			}
			data = jsontext.AppendString(data, strings.TrimSpace(version))
		}
	}
	data = jsontext.AppendString(append(data, `],"requested":`...), candor.Public(requested, 64))
	return append(data, '}')
}
