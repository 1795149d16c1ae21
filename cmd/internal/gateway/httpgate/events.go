package httpgate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// events handles an answer that is an event stream, including notifications and requests on it.
func (x *Exchange) events(res *http.Response) gateway.Reply {
	if x.call.Attempt() >= x.Handler.up.Options.Retry.Attempts {
		x.beginStream(res) // the call cannot be retried, so the client can see immediately that it was accepted
	}
	defer x.releaseAnswer()
	events := x.heldEvents(res.Body)
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, httpguard.ErrBudget):
			return x.failWithoutMemory()
		case err != nil:
			return x.ended(err, len(events.LastEventID()) > 0)
		}
		out, reply := x.handleEvent(&e)
		if reply.Again {
			return reply
		}
		if out == nil {
			continue
		}
		if !x.Begun {
			x.beginStream(res)
		}
		if err := x.Write(out); err != nil {
			return x.ended(err, len(events.LastEventID()) > 0)
		}
	}
}

// beginStream sends the headers of a stream. The call cannot be retried afterwards.
func (x *Exchange) beginStream(res *http.Response) {
	if x.call != nil {
		x.call.Commit()
	}
	x.begin(res, -1)
	x.stream, x.unsent = true, true
	if x.batchesEvents = x.call != nil; !x.batchesEvents { // on other streams, deadlines write too
		x.flush()
	}
}

// handleEvent returns the bytes that the client gets for an event: unchanged, unless it is a failing answer to the call.
func (x *Exchange) handleEvent(e *framing.Event) ([]byte, gateway.Reply) {
	if isEndpoint(e) {
		x.logEndpoint(e, "not on the stream of a legacy session")
		return nil, gateway.Reply{}
	}
	if out, settled := handleNonMessage(e); settled {
		return out, gateway.Reply{}
	}
	if e.Flaw != wireflaw.None {
		if id := framing.PeekID(e.Head, e.Tail); id != nil && !id.Equal(x.call.ID()) {
			return nil, gateway.Reply{}
		}
		return onStream(e, x.call.Lose(x.Context, gateway.OversizeError(x.Handler.up.MaxBytes()), nil, true))
	}
	m := wire.Parse(e.Data, x.Handler.up.Options.Limits.Message)
	switch {
	case isAsked(&m):
		x.handleAside(&m)
		return e.Raw, gateway.Reply{}
	case e.Unended && m.Kind() == wire.KindMalformed:
		return nil, gateway.Reply{} // the end of the stream is reported instead of a partial event
	case isHeartbeat(&m):
		x.noise = append(x.noise[:0], e.Data[:min(len(e.Data), peekBytes)]...)
		return x.Handler.heartbeat(e), gateway.Reply{}
	case m.Method() != nil, !x.isAnswer(&m):
		if x.strays++; x.strays <= maxHTTPStrays {
			x.Handler.up.Stray(x.Context, e.Data, x.Session)
		}
		return nil, gateway.Reply{}
	}
	return onStream(e, x.closeWith(&m))
}

// maxHTTPStrays bounds the recorded stray answers of one stream.
const maxHTTPStrays = 16

// handleNonMessage handles an event that is not a message: it passes unchanged. An event that is too large, such as a
// comment, or empty and truncated, is dropped.
func handleNonMessage(e *framing.Event) (out []byte, settled bool) {
	if e.Flaw != wireflaw.None && (!isMessage(e.Type) || len(e.Head) == 0) {
		return nil, true
	}
	if e.Flaw != wireflaw.None || len(e.Data) > 0 && isMessage(e.Type) {
		return nil, false
	}
	if e.Unended {
		return nil, true
	}
	return e.Raw, true
}

// isMessage reports whether a client may read an event of a type as a message: some ignore spaces and case.
func isMessage(kind []byte) bool {
	kind = bytes.TrimSpace(kind)
	return len(kind) == 0 || bytes.EqualFold(kind, []byte("message"))
}

// isHeartbeat reports whether an event cannot have been meant as a JSON-RPC message, such as "ping". Some servers send
// such events to keep connections open.
func isHeartbeat(m *wire.Message) bool {
	return m.Kind() == wire.KindMalformed && m.Method() == nil && m.ID() == nil && !m.Result().Present() && !m.Error().Present() &&
		!bytes.Contains(m.Bytes(), []byte(`"jsonrpc"`))
}

// heartbeat returns the bytes that replace a heartbeat event: a comment, because some clients fail on an event that
// they cannot parse. The fields needed to resume the stream are kept. In observe mode the event is not changed.
func (d *Handler) heartbeat(e *framing.Event) []byte {
	if d.up.Options.Mode == gateway.ModeObserve {
		return e.Raw
	}
	out, err := framing.AppendEvent([]byte(":\n"), framing.Event{ID: e.ID, HasID: e.HasID, Retry: e.Retry, HasRetry: e.HasRetry})
	if err != nil {
		return nil
	}
	return out
}

// isAsked reports whether a message is a request or notification from the server.
func isAsked(m *wire.Message) bool {
	return m.Kind() == wire.KindRequest || m.Kind() == wire.KindNotification
}

// isAnswer reports whether a message on the stream of a call is its answer: it has the call's id, or no id.
func (x *Exchange) isAnswer(m *wire.Message) bool {
	id := m.ID()
	return len(id) == 0 || id.IsNull() || id.Equal(x.call.ID())
}

// onStream writes a reply as an event in place of e.
func onStream(e *framing.Event, reply gateway.Reply) ([]byte, gateway.Reply) {
	switch {
	case reply.Bytes == nil:
		return nil, reply
	case !e.Unended && e.Raw != nil && gateway.SameBytes(reply.Bytes, e.Data):
		return e.Raw, reply
	case e.Unended:
		e = &framing.Event{Type: e.Type, ID: e.ID, HasID: e.HasID}
	}
	out, err := e.AppendWithData(nil, reply.Bytes)
	if err != nil {
		return nil, reply
	}
	return out, reply
}

// handleAside inspects a message from the server before it is forwarded.
func (x *Exchange) handleAside(m *wire.Message) {
	if token := x.Handler.readNotification(m); token != nil && token.Equal(x.call.ProgressToken()) {
		x.call.NoteProgress()
		x.deadline.extend()
	}
}

// readNotification reads a notification from the server. It returns the progress token in it, or nil.
func (d *Handler) readNotification(m *wire.Message) (token wire.ID) {
	switch {
	case m.MethodIs("notifications/progress"):
		return m.Params().Path("progressToken").Raw()
	case m.MethodIs("notifications/tools/list_changed"):
		d.up.Tools.Forget()
	}
	return nil
}

// ended handles the end of a stream. Before version 2026-07-28 a stream with event ids can be resumed by GET: the call
// then stays open.
func (x *Exchange) ended(err error, numbered bool) gateway.Reply {
	if x.call.Ended() {
		return gateway.Reply{}
	}
	why := context.Cause(x.Context)
	over := errors.Is(why, errDeadline) || errors.Is(why, errCancelled)
	if s := x.Handler.sessions.get(x.Session); numbered && s != nil && !over && !x.call.IsStateless() && s.park(x, x.call) {
		if !errors.Is(err, io.EOF) {
			x.flush()
			panic(http.ErrAbortHandler) //nolint:forbidigo // the client is to see that the stream broke off, and take it up again
		}
		return gateway.Reply{}
	}
	if errors.Is(err, io.EOF) && why == nil && x.noise != nil {
		return x.sendReply(x.call.Close(x.Context, x.noise)) // no other event can be the answer
	}
	return x.lost(err)
}

func errNotAnswer() *candor.Error {
	return gateway.NewError(candor.CodeUpstreamMalformed, "reason", "the answer is a request")
}
