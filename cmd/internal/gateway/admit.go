package gateway

import (
	"bytes"
	"context"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Admit opens a call for a request from a client, or refuses it. A refusal is recorded and counted, and returned as the answer to
// send. The message must be a request; it is copied.
func (u *Upstream) Admit(ctx context.Context, m *wire.Message, session string) (*Call, []byte) {
	return u.AdmitFrom(ctx, m, u.inSession(session), true)
}

// AdmitFrom is like [Upstream.Admit] for any peer. It checks the tool and its arguments only if object is set.
func (u *Upstream) AdmitFrom(ctx context.Context, m *wire.Message, from Peer, object bool) (*Call, []byte) {
	c := u.NewCallFrom(m, from)
	if object {
		c.compile(c.tools)
	}
	if refusal := c.Admit(ctx, object); refusal != nil {
		return nil, refusal
	}
	return c, nil
}

// Admit returns nil if the call may be forwarded, otherwise the answer to send. It blocks only to write to the ledger.
func (c *Call) Admit(ctx context.Context, object bool) []byte {
	if c.up.ending.Load() {
		return c.Fail(ctx, DrainingError())
	}
	if object {
		if e := c.Objection(); e != nil {
			return c.Fail(ctx, e)
		}
	}
	if e := c.breaker.enter(c); e != nil {
		return c.Fail(ctx, e)
	}
	c.up.repeats.tried(c)
	c.up.budget.earn()
	c.admitted = true
	return nil
}

// Objection returns the reason to refuse a call without forwarding it, or nil.
func (c *Call) Objection() *candor.Error {
	if !c.IsTool() || c.up.Options.Mode == ModeObserve {
		return nil
	}
	misfit := c.misfit()
	if stop := c.up.repeats.stop(c, misfit != nil); stop != nil {
		return stop
	}
	if misfit != nil {
		c.up.repeats.tried(c)
	}
	return misfit
}

// Malformed records a malformed message from a client and returns the answer. The answer is nil if the message must not be
// answered.
func (u *Upstream) Malformed(ctx context.Context, m *wire.Message, session string) []byte {
	e := argerror.Flaw(m.Malformation(), candor.PartyGateway)
	c := u.newRecord(nil, session)
	c.request, c.method = m.Clone(), candor.Public(string(m.Method()), maxMethod)
	c.id = argerror.AnswerID(&c.request, e.Code())
	if m.Shape() == wire.KindNotification && m.Malformation().Flaw != wireflaw.BadMethod || m.Shape() == wire.KindResult || m.Shape() == wire.KindError {
		c.suppress(ctx, e, contract.VerdictMalformed)
		return nil
	}
	return c.refuse(ctx, e, contract.VerdictMalformed)
}

// Oversize answers a frame from a client that was too large to keep. Head and tail are the parts of the frame that were kept.
func (u *Upstream) Oversize(ctx context.Context, size int64, head, tail []byte, session string) []byte {
	c := u.newRecord(bytes.Clone(framing.PeekID(head, tail)), session)
	return c.refuse(ctx, NewError(candor.CodeMessageTooLarge, "bytes", size), contract.VerdictMalformed)
}

const maxMethod = 128

// Reject answers a message that is not forwarded with a JSON-RPC error. The id is nil if the message has none.
func (u *Upstream) Reject(ctx context.Context, id wire.ID, session string, e *candor.Error) []byte {
	return u.newRecord(id, session).refuse(ctx, e, lostOr(e))
}

// RejectUnread answers a request before its message is read, so its id is unknown.
func (u *Upstream) RejectUnread(ctx context.Context, session string, e *candor.Error) []byte {
	return u.newRecord(nil, session).refuse(ctx, e, contract.VerdictMalformed)
}

// RejectQuestion returns the answer to a request from the server that no client can answer. It is recorded only if record is set.
// Clients do not see it.
func (u *Upstream) RejectQuestion(ctx context.Context, id wire.ID, session string, e *candor.Error, record bool) []byte {
	c := u.newRecord(id, session)
	f := c.fails(e, contract.VerdictProtocol)
	if record {
		_ = c.record(ctx, &f) // a ledger error is logged
	}
	return c.made(f.Error)
}
