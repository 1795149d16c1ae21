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

// Close ends the call with the upstream's answer: a clean one leaves as the bytes it came in; a failure is classified,
// normalised, recorded and counted first. The answer is not changed and not kept.
func (c *Call) Close(ctx context.Context, answer []byte) Reply {
	if c.over.is() {
		c.Late(ctx, answer)
		return Reply{}
	}
	m := wire.Parse(answer, c.up.Options.Limits.Message)
	x, found, ruled := c.judge(&m)
	if found.Verdict == contract.VerdictClean && ruled == nil {
		return c.succeed(answer, &x)
	}
	return c.failed(ctx, answer, &x, found, ruled)
}

// PassClean ends the call if the answer is clean, and reports whether it is. It does not wait for anything.
func (c *Call) PassClean(m *wire.Message) (Reply, bool) {
	x, found, ruled := c.judge(m)
	if found.Verdict != contract.VerdictClean || ruled != nil || c.over.is() {
		return Reply{}, false
	}
	return c.succeed(m.Bytes(), &x), true
}

// judge says what an answer is.
func (c *Call) judge(m *wire.Message) (x contract.Exchange, found contract.Conclusion, ruled *unmasked) {
	x = contract.Exchange{Response: *m, Request: &c.request, Dialect: c.up.Options.Speaks, At: c.up.Options.Now()}
	if found = contract.Classify(&x); c.IsTool() && isHollow(m) {
		found.Verdict, found.Certainty = contract.VerdictMalformed, contract.Certain
	}
	return x, found, c.up.Options.Rules.unmask(c, &x)
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

// readdress gives the answer m the id as the client wrote it.
func (c *Call) readdress(m *wire.Message) {
	if own := c.withClientID(m.Bytes(), m); !SameBytes(own, m.Bytes()) {
		*m = wire.Parse(own, c.up.Options.Limits.Message)
	}
}

// failed handles an answer that tells of a failure, or seems to.
func (c *Call) failed(ctx context.Context, answer []byte, x *contract.Exchange, found contract.Conclusion, ruled *unmasked) Reply {
	x.Ref, x.InputSchema = c.up.Options.NewRef(), c.inputSchema()
	passed := c.withClientID(answer, &x.Response)
	f := failure{verdict: found.Verdict, said: c.redactSecrets(answer, &x.Response), suspected: found.Certainty == contract.Suspected && ruled == nil}
	end := c.answered
	switch {
	case ruled != nil:
		f.err, f.verdict = c.stamp(ruled.error(attribute(asFailure(x), x))), contract.VerdictMasked
	case found.Verdict == contract.VerdictMalformed || found.Verdict == contract.VerdictStray:
		f.err, end = c.stamp(unreadable(x, found)), c.unanswered
	default:
		f.err = c.stamp(c.nameTools(c.up.Options.Rules.translate(c, attribute(contract.Read(x).Error, x))))
	}
	f.err = c.departures.explain(f.err)
	if ruled == nil || ruled.mask.Retry == nil { // a rule's own advice is that of the operator
		f.err = c.careful(f.err)
	}
	if !f.suspected && c.mayRetry(f.err) {
		if wait, ok := c.afford(f.err, end); ok {
			return c.again(ctx, f, wait)
		}
	}
	if !c.over.claim() {
		return Reply{}
	}
	if f.suspected {
		return c.suspect(ctx, f, passed)
	}
	end(f.err)
	if c.IsTool() {
		f.err = c.up.repeats.note(c, f.err)
	}
	if c.MayPass(&x.Response) {
		return Reply{Bytes: c.asItCame(ctx, f, answer)}
	}
	c.readdress(&x.Response)
	f.answer = answer
	return Reply{Bytes: c.express(ctx, f, &x.Response)}
}

// asFailure reads a success in the way it would be read if it said that it is none.
func asFailure(x *contract.Exchange) *candor.Error {
	if e := contract.Read(x).Error; e != nil {
		return e
	}
	flipped, err := splice.SetMember(nil, x.Response.Bytes(), []string{"result", "isError"}, []byte("true"))
	if err != nil {
		return nil
	}
	y := *x
	y.Response = wire.Parse(flipped, wire.Limits{AllowLoneSurrogates: true})
	return contract.Read(&y).Error
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
	_ = c.settle(ctx, failure{err: c.stamp(e), verdict: contract.VerdictStray, said: said, silent: true}, nil) // nobody is told: a refusal of the ledger is logged
}

// suspect records what looks like a failure and passes it on untouched: only a rule for the tool may call it one.
func (c *Call) suspect(ctx context.Context, f failure, answer []byte) Reply {
	c.answered(nil)
	if c.IsTool() {
		c.up.repeats.forgive(c) // the client sees a success
	}
	_ = c.settle(ctx, f, nil) // nobody is told: a refusal of the ledger is logged
	return Reply{Bytes: answer}
}

// again records an attempt that failed and will be made once more.
func (c *Call) again(ctx context.Context, f failure, wait time.Duration) Reply {
	f.retried = true
	_ = c.settle(ctx, f, nil) // nobody is told: a refusal of the ledger is logged
	c.attempt++
	return Reply{Again: true, Wait: wait}
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

// IsClean reports whether an answer is classified as clean, though no client may be able to read it.
func (c *Call) IsClean(m *wire.Message) bool {
	_, found, _ := c.judge(m)
	return found.Verdict == contract.VerdictClean
}
