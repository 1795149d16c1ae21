package gateway

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// Reply is what becomes of an answer.
type Reply struct {
	// Bytes go to the client; nil if nothing does, because the call had ended already.
	Bytes []byte
	// Again says to forward the call once more after Wait, and to send nothing yet.
	Again bool
	Wait  time.Duration
}

// isHollow reports a result that is not an object, such as null: JSON-RPC allows that, but MCP does not, and clients that read strictly drop
// it and wait on.
func isHollow(m *wire.Message) bool {
	return m.Kind() == wire.KindResult && m.Result().Type() != wire.TypeObject
}

func (c *Call) succeed(answer []byte, x *contract.Exchange) Reply {
	if !c.over.claim() {
		return Reply{}
	}
	c.answered(nil)
	if c.IsTool() {
		c.up.repeats.forgive(c)
	}
	if c.departures != nil {
		c.up.tolerances.note(c)
	}
	if c.learn != nil {
		cursor, _ := c.request.Params().Path("cursor").Str()
		c.learn(x.Response.Result(), cursor)
	}
	return Reply{Bytes: c.withClientID(answer, &x.Response)}
}

// withClientID returns the answer m, whose bytes are given, with the id as the client wrote it. A server may escape the same string in
// another way; nearly all do not, and then the bytes are returned as they are. Observe mode changes nothing.
func (c *Call) withClientID(answer []byte, m *wire.Message) []byte {
	id := m.ID()
	if bytes.Equal(id, c.id) || !id.Equal(c.id) || c.up.Options.Mode == ModeObserve {
		return answer
	}
	out, err := splice.Set(nil, m.Value(), []string{"id"}, c.id.Value())
	if err != nil {
		return answer
	}
	return out
}

// unreadable is the error of an answer that is none: what is wrong with it is the upstream's fault, not the caller's.
func unreadable(x *contract.Exchange, found contract.Conclusion) *candor.Error {
	reason := "the answer has another id than the call"
	switch {
	case found.Verdict == contract.VerdictStray:
	case isHollow(&x.Response):
		reason = "the result is not an object"
	case found.Verdict == contract.VerdictMalformed:
		reason = x.Response.Malformation().Flaw.Reason()
	}
	return candor.New(candor.CodeUpstreamMalformed, "", candor.WithOrigin(candor.PartyGateway, false),
		candor.WithRef(x.Ref), candor.WithDetails(map[string]any{"reason": reason}))
}

// MaxStrayBytes is what is kept of an answer to nothing: a server may send any number of them, of any size.
const MaxStrayBytes = 1 << 10

// Stray records an answer of the upstream that belongs to no call, with the beginning of what it says. Nobody can be told.
func (u *Upstream) Stray(ctx context.Context, answer []byte, session string) {
	c := &Call{up: u, session: session, attempt: 1, began: u.Options.Now()}
	e := candor.New(candor.CodeStrayAnswer, "", candor.WithOrigin(candor.PartyServer, false))
	said := []byte(Excerpt(u.Secrets.Load().Redact(answer), true, MaxStrayBytes))
	_ = c.record(ctx, &failure{err: c.stamp(e), verdict: contract.VerdictStray, said: said, silent: true}) // nothing is sent: a refusal of the ledger is logged
}

// Fail ends the call with an error that the gateway has found itself: the upstream is gone, the time is up, the call was
// refused. It returns the answer for the client, nil if the call had ended already.
func (c *Call) Fail(ctx context.Context, e *candor.Error) []byte {
	if !c.over.claim() {
		return nil
	}
	c.unanswered(e)
	e = c.departures.explain(e)
	if c.IsTool() {
		e = c.up.repeats.note(c, c.stamp(e))
	}
	if c.Method() == "initialize" && e.Code() == candor.CodeUpstreamGone {
		e = notReady(e)
	}
	if c.Method() == "initialize" && e.Code() == candor.CodeCallTimeout {
		e = slowStart(e, c.Timeout())
	}
	return c.refuse(ctx, e, lostOr(e))
}

// Cancelled ends the call because the client called it off: nothing may be answered.
func (c *Call) Cancelled(ctx context.Context) {
	if !c.over.claim() {
		return
	}
	c.unanswered(nil)
	c.suppress(ctx, candor.New(candor.CodeCancelled, "", candor.WithOrigin(candor.PartyClient, false)), contract.VerdictLost)
}

// Late counts an answer that came after the call had ended. Nobody is told: the client has had its answer.
func (c *Call) Late(ctx context.Context, answer []byte) {
	c.up.late.Add(1)
	c.up.Options.Logger.DebugContext(ctx, "a late answer was dropped", slog.String("upstream", c.up.Options.Name),
		slog.String("method", contract.Bound(c.method, maxMethod)), slog.String("tool", contract.Bound(c.tool, maxMethod)), slog.Int("bytes", len(answer)))
}

// Ended reports whether the call has had its end.
func (c *Call) Ended() bool { return c.over.is() }

// lostOr is the verdict on a failure that the gateway found: the call was lost, or the protocol's rules refused it.
func lostOr(e *candor.Error) contract.Verdict {
	switch e.Class() {
	case candor.ClassTimeout, candor.ClassUnavailable, candor.ClassCancelled:
		return contract.VerdictLost
	default:
		return contract.VerdictProtocol
	}
}

// SameBytes reports that two slices are the same memory.
func SameBytes(a, b []byte) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }
