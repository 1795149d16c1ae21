package gateway

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// Reply is the outcome of an answer.
type Reply struct {
	// Bytes is the message to send to the client, or nil if the call had already ended.
	Bytes []byte
	// Again means that the call must be forwarded again after Wait, and that nothing is sent yet.
	Again bool
	Wait  time.Duration
}

// isHollow reports whether a result is not an object, such as null. JSON-RPC allows that, but MCP does not, and strict clients
// drop such an answer and keep waiting.
func isHollow(m *wire.Message) bool {
	return m.Kind() == wire.KindResult && m.Result().Type() != wire.TypeObject
}

func (c *Call) succeed(answer []byte, x *contract.Exchange) Reply {
	if !c.claim() {
		return Reply{}
	}
	c.answered(nil)
	c.noteSuccess(x.At)
	if c.IsTool() {
		c.up.repeats.forgive(c)
	} else if c.describesServer() {
		c.describe(&x.Response)
	}
	if c.learn != nil {
		cursor, _ := c.request.Params().Path("cursor").Str()
		c.learn(x.Response.Result(), cursor)
	}
	c.observe(nil, nil)
	return Reply{Bytes: c.withClientID(answer, &x.Response)}
}

// withClientID returns the answer m, whose bytes are given, with the id as the client wrote it. A server may escape the same
// string differently; usually it does not, and the bytes are returned unchanged. Observe mode changes nothing.
func (c *Call) withClientID(answer []byte, m *wire.Message) []byte {
	id := m.ID()
	if bytes.Equal(id, c.id) || !id.Equal(c.id) || c.up.Options.Mode == ModeObserve {
		return answer
	}
	return WithMember(answer, c.id, "id")
}

// unreadable returns the error for an answer that cannot be read. The fault is the upstream's, not the caller's.
func unreadable(x *contract.Exchange, found contract.Conclusion) *candor.Error {
	reason := "the answer has another id than the call"
	switch {
	case found.Verdict == contract.VerdictStray:
	case isHollow(&x.Response):
		reason = "the result is not an object"
	case found.Verdict == contract.VerdictMalformed:
		reason = x.Response.Malformation().Flaw.Reason()
	}
	return NewError(candor.CodeUpstreamMalformed, "reason", reason).With(candor.WithRef(x.Ref))
}

// MaxStrayBytes bounds the part of a stray answer that is kept. A server may send any number of them, of any size.
const MaxStrayBytes = 1 << 10

// Stray records an answer from the upstream that belongs to no call, with its first bytes. Nothing is sent.
func (u *Upstream) Stray(ctx context.Context, answer []byte, session string) {
	c := u.newRecord(nil, session)
	e := candor.New(candor.CodeStrayAnswer, "", candor.WithOrigin(candor.PartyServer, false))
	f := c.fails(e, contract.VerdictStray)
	f.said = []byte(Excerpt(u.Secrets.Load().Redact(answer), true, MaxStrayBytes))
	_ = c.record(ctx, &f) // nothing is sent; a ledger error is logged
}

// Fail ends the call with an error that the gateway found: the upstream is gone, the call timed out or was refused. It returns
// the answer for the client, or nil if the call had already ended.
func (c *Call) Fail(ctx context.Context, e *candor.Error) []byte {
	if !c.claim() {
		return nil
	}
	c.unanswered(e)
	e = c.mismatches.explain(e)
	if c.IsTool() {
		if e = c.stamp(e); !e.Retry().Retryable() { // otherwise the call was not forwarded
			e = c.withoutSecondEffect(e)
		}
		e = c.up.repeats.note(c, e)
	}
	if c.method == "initialize" {
		e = c.startError(e)
	}
	return c.refuse(ctx, e, lostOr(e))
}

// Cancelled ends a call that the client cancelled. Nothing is sent.
func (c *Call) Cancelled(ctx context.Context) {
	if !c.claim() {
		return
	}
	c.unanswered(nil)
	c.suppress(ctx, candor.New(candor.CodeCancelled, "", candor.WithOrigin(candor.PartyClient, false)), contract.VerdictLost)
}

// Late counts an answer that arrived after the call had ended. It is dropped, because the client has its answer.
func (c *Call) Late(ctx context.Context, answer []byte) {
	c.up.late.Add(1)
	c.up.Options.Logger.DebugContext(ctx, "a late answer was dropped",
		slog.String("method", candor.Public(c.method, maxMethod)), slog.String("tool", candor.Public(c.tool, maxMethod)), slog.Int("bytes", len(answer)))
}

// lostOr returns the verdict for a failure that the gateway found: the call was lost, or a protocol rule refused it.
func lostOr(e *candor.Error) contract.Verdict {
	switch e.Class() {
	case candor.ClassTimeout, candor.ClassUnavailable, candor.ClassCancelled:
		return contract.VerdictLost
	default:
		return contract.VerdictProtocol
	}
}

// SameBytes reports whether two slices share the same memory and length.
func SameBytes(a, b []byte) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }
