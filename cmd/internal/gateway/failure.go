package gateway

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// This file is the path of an answer through the gateway. An [Answer] is parsed and classified once. A failing one becomes a
// failure, and each step fills one of its fields:
//
//	Read       parses the bytes of the upstream and classifies them    Answer
//	interpret  turns the answer into one error                         failure.Error
//	retry      forwards the call once more, if that is allowed         the path ends here
//	normalise  writes the answer with the error attached               failure.Sent
//	record     writes the ledger's entry, then counts                  or the answer becomes AUDIT_LOG_FAILED
//
// The transport writes the bytes that Close returns. The bytes of the upstream are never changed.

// Answer is a parsed and classified answer from the upstream.
type Answer struct {
	x     contract.Exchange
	found contract.Conclusion
	rule  *Mask // the operator's rule by which this success is a failure; nil if none applies
}

// failure is a failed call on its way to the client.
type failure struct {
	candor.Failure
	answer  []byte // the upstream's bytes; nil if the gateway found the failure
	said    []byte // answer, without the secrets that the server was started with
	cleaned []byte // said, redacted; nil until it is needed
}

// fails returns the failure of the call with an error, which it stamps.
func (c *Call) fails(e *candor.Error, v contract.Verdict) failure {
	return failure{Failure: candor.Failure{Error: c.stamp(e), Verdict: string(v)}}
}

// Read classifies an answer that has been parsed.
func (c *Call) Read(m *wire.Message) Answer {
	a := Answer{x: contract.Exchange{Response: *m, Request: &c.request, Dialect: c.up.Options.Speaks, At: c.up.Options.Now(), Quote: true}}
	if a.found = contract.Classify(&a.x); c.IsTool() && isHollow(m) {
		a.found.Verdict, a.found.Certainty = contract.VerdictMalformed, contract.Certain
	}
	a.rule = c.up.Options.Rules.unmask(c, &a.x, a.found)
	if a.found.Certainty == contract.Suspected && c.up.marksFailures() {
		a.found = contract.Conclusion{Verdict: contract.VerdictClean, Certainty: contract.Certain}
	}
	return a
}

// IsClean reports whether the answer is not a failure. A client may still be unable to read it.
func (a *Answer) IsClean() bool { return a.found.Verdict == contract.VerdictClean && a.rule == nil }

// Verdict returns the classification of the answer, without the operator's rules.
func (a *Answer) Verdict() contract.Verdict { return a.found.Verdict }

// unreadable reports whether the answer cannot be read as one of the call.
func (a *Answer) unreadable() bool {
	return a.rule == nil && (a.found.Verdict == contract.VerdictMalformed || a.found.Verdict == contract.VerdictStray)
}

// Size returns the length of the answer in bytes.
func (a *Answer) Size() int { return len(a.x.Response.Bytes()) }

// Clone returns a copy of the answer that shares no memory with it.
func (a *Answer) Clone() Answer {
	own := *a
	own.x.Response = a.x.Response.Clone()
	return own
}

// Close ends the call with an answer from the upstream, which it parses and classifies. The bytes are not changed and not
// retained.
func (c *Call) Close(ctx context.Context, answer []byte) Reply {
	m := wire.Parse(answer, c.up.Options.Limits.Message)
	a := c.Read(&m)
	return c.CloseAnswer(ctx, &a)
}

// CloseAnswer ends the call with an answer. A clean answer is sent as the same bytes; a failing one is normalised, recorded and
// counted first.
func (c *Call) CloseAnswer(ctx context.Context, a *Answer) Reply {
	if reply, clean := c.PassClean(a); clean {
		return reply
	}
	if c.Ended() {
		c.Late(ctx, a.x.Response.Bytes())
		return Reply{}
	}
	return c.closeFailure(ctx, a)
}

// PassClean ends the call if the answer is clean, and reports whether it did. It does not block.
func (c *Call) PassClean(a *Answer) (Reply, bool) {
	if !a.IsClean() || c.Ended() {
		return Reply{}, false
	}
	return c.succeed(a.x.Response.Bytes(), &a.x), true
}

// closeFailure handles an answer that is a failure, or is suspected to be one.
func (c *Call) closeFailure(ctx context.Context, a *Answer) Reply {
	m := &a.x.Response
	f := failure{answer: m.Bytes(), Failure: candor.Failure{Verdict: string(a.found.Verdict)}}
	if a.found.Certainty == contract.Suspected && a.rule == nil {
		f.Suspected, f.Rule, f.Source = true, a.found.Rule, string(a.found.Source)
	}
	passed := c.withClientID(f.answer, m)
	f.said = c.withoutSecrets(m)
	f.Error = c.interpret(a, &f)
	end := c.answered
	if a.unreadable() {
		end = c.unanswered
	}
	if !f.Suspected && c.mayRetry(f.Error) {
		if wait, ok := c.afford(f.Error, end); ok {
			return c.again(ctx, f, wait)
		}
	}
	if !c.claim() {
		return Reply{}
	}
	if f.Suspected {
		return c.passSuspected(ctx, f, passed)
	}
	end(f.Error)
	if c.IsTool() {
		f.Error = c.up.repeats.note(c, f.Error)
	}
	if c.MayPass(m) {
		f.Sent = f.answer
	} else {
		c.readdress(m)
		c.normalise(&f, m)
	}
	return Reply{Bytes: c.recorded(ctx, &f)}
}

// interpret returns the error of a failing answer. It combines the upstream's error, as far as the upstream may set it, with data
// about the call.
func (c *Call) interpret(a *Answer, f *failure) *candor.Error {
	x := &a.x
	x.Ref, x.InputSchema = c.up.Options.NewRef(), c.inputSchema()
	var e *candor.Error
	switch {
	case a.rule != nil:
		found := a.found
		if found.Verdict == contract.VerdictClean {
			found.Verdict = contract.VerdictTool // read it as if isError were set
		}
		f.Verdict = string(contract.VerdictMasked)
		e = c.stamp(a.rule.error(attribute(contract.Interpret(x, found), x)))
	case a.unreadable():
		e = c.stamp(unreadable(x, a.found))
	default:
		e = c.stamp(c.nameTools(c.up.Options.Rules.translate(c, attribute(contract.Interpret(x, a.found), x))))
	}
	e = c.mismatches.explain(e)
	if a.rule == nil || a.rule.Retry == nil { // the retry advice of a rule takes precedence
		e = c.withoutSecondEffect(e)
	}
	return e
}

// inputSchema returns the schema of the called tool as its server lists it, or the absent value if it is unknown.
func (c *Call) inputSchema() wire.Value {
	if t := c.tools.tool(c.tool); t != nil {
		return t.schemaValue()
	}
	return wire.Value{}
}

// again records a failed attempt that will be repeated after a pause.
func (c *Call) again(ctx context.Context, f failure, wait time.Duration) Reply {
	f.Retried = true
	_ = c.record(ctx, &f) // nothing is sent; a ledger error is logged
	c.attempt++
	return Reply{Again: true, Wait: wait}
}

// passSuspected records an answer that looks like a failure and passes it on unchanged. Only a rule for the tool can make it a
// failure.
func (c *Call) passSuspected(ctx context.Context, f failure, answer []byte) Reply {
	c.answered(nil)
	if c.IsTool() {
		c.up.repeats.forgive(c) // the client sees a success
	}
	_ = c.record(ctx, &f) // the answer is sent in any case; a ledger error is logged
	return Reply{Bytes: answer}
}

// withoutSecrets returns the bytes of an answer without the secrets that its server was started with. If the answer held one, m
// is replaced by the redacted message.
func (c *Call) withoutSecrets(m *wire.Message) []byte {
	said := c.up.Secrets.Load().Redact(m.Bytes())
	if !bytes.Equal(said, m.Bytes()) {
		*m = wire.Parse(said, c.up.Options.Limits.Message)
	}
	return said
}

// readdress sets the id of the answer m to the one that the client wrote.
func (c *Call) readdress(m *wire.Message) {
	if own := c.withClientID(m.Bytes(), m); !SameBytes(own, m.Bytes()) {
		*m = wire.Parse(own, c.up.Options.Limits.Message)
	}
}

// normalise writes the answer for the client according to the mode.
func (c *Call) normalise(f *failure, m *wire.Message) {
	mode := c.up.Options.Mode
	switch {
	case f.Verdict == string(contract.VerdictMalformed), f.Verdict == string(contract.VerdictStray):
		f.Sent = c.made(f.Error) // there is no text to keep
	case mode == ModeStrict && m.Kind() == wire.KindError:
		f.Sent = c.withheldError(f.Error, m)
	case mode == ModeStrict:
		f.Sent = c.made(c.withheld(f.Error, c.mismatches.own()))
	case m.Kind() == wire.KindMalformed:
		f.Sent = c.made(f.Error) // its text is understood, but a strict client would not read it
	case mode == ModeObserve:
		f.Sent = f.said
	case f.Error.Code() != candor.CodeToolNotFound && c.up.Options.Rules.asResult(c, m):
		f.Sent = c.made(f.Error)
	default:
		c.annotate(f, m)
	}
}

// annotate attaches the error to the answer. It keeps everything else from the upstream, except for secrets and control
// characters.
func (c *Call) annotate(f *failure, m *wire.Message) {
	cleaned := c.clean(m)
	f.cleaned = cleaned.Bytes()
	if cleaned.Kind() != wire.KindMalformed {
		out, err := contract.Normalise(nil, &cleaned, f.Error, c.client())
		if err == nil {
			f.Sent = out
			return
		}
	}
	f.Sent = c.made(f.Error)
}

// clean returns a failing answer without secrets and control characters in its texts, and without a null result beside an error
// or the reverse, which strict clients refuse. All other bytes are kept. It returns m if nothing changed.
func (c *Call) clean(m *wire.Message) wire.Message {
	scratch := scratches.Get().(*[]byte) //nolint:errcheck,forcetypeassert // nothing else is put there
	defer scratches.Put(scratch)
	cleaned := *m
	out, changed := redactjson.Cleaner{Policy: TextPolicy, Fixed: isFixed}.Append((*scratch)[:0], m.Value())
	if changed {
		cleaned = wire.Parse(bytes.Clone(out), c.up.Options.Limits.Message)
	}
	if cap(out) <= maxScratch {
		*scratch = out
	}
	if cleaned.Value().Path("result").Present() && cleaned.Value().Path("error").Present() {
		cleaned = wire.Parse(withoutNull(&cleaned), c.up.Options.Limits.Message)
	}
	return cleaned
}

// scratches holds buffers for cleaning answers. Most answers need no change, and then nothing is copied.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

const maxScratch = 64 << 10

// withoutNull returns an answer that has both result and error without the one that is null.
func withoutNull(m *wire.Message) []byte {
	kept, member := m.Result(), "result"
	if m.Shape() == wire.KindError {
		kept, member = m.Error(), "error"
	}
	if !kept.Present() {
		return m.Bytes()
	}
	out := append(append([]byte(`{"jsonrpc":"2.0","id":`), m.ID()...), `,"`+member+`":`...)
	return append(append(out, kept.Raw()...), '}')
}

// stamp sets the ref, time, tool and session of an error, also if an upstream's envelope has others.
func (c *Call) stamp(e *candor.Error) *candor.Error { return c.recorder().Stamp(e, c.site()) }

func (c *Call) recorder() record.Recorder {
	o := &c.up.Options
	return record.Recorder{By: candor.PartyGateway, Ledger: o.Ledger, Meter: o.Meter, Gone: &c.gone, Logger: o.Logger, Now: o.Now, Ref: o.NewRef}
}

func (c *Call) site() record.CallSite {
	return record.CallSite{Tool: c.tool, Session: c.session, Trusted: true}
}

// recorded records a failure and returns the bytes for the client: f.Sent, or an error if the failure could not be recorded.
func (c *Call) recorded(ctx context.Context, f *failure) []byte {
	if audit := c.record(ctx, f); audit != nil {
		return c.made(audit)
	}
	return f.Sent
}

// record writes the entry of a failure, then counts it. It returns nil, or the error to send instead if the ledger failed.
func (c *Call) record(ctx context.Context, f *failure) *candor.Error {
	f.Method, f.Upstream, f.Attempt = c.method, c.up.Name(), c.attempt
	if o := &c.up.Options; o.Ledger != nil {
		f.Redacted = o.Mode != ModeObserve // which sends the upstream's bytes
		f.Arguments, f.Received, f.Latency, f.Client = c.arguments(), c.recordable(f), o.Now().Sub(c.began), c.client().Name
	}
	audit := c.recorder().Record(ctx, &f.Failure)
	c.noteFailure(f, audit == nil)
	c.observe(&f.Failure, audit)
	return audit
}

// recordable returns the upstream's text for the ledger, redacted.
func (c *Call) recordable(f *failure) []byte {
	if f.cleaned == nil && len(f.said) > 0 {
		f.cleaned = CleanText(f.said, c.up.Options.Limits.Message)
	}
	return f.cleaned
}

// Observe mode changes no answer: the client gets the same bytes as without the gateway. Lost calls are still answered by the
// gateway in every mode. A call is lost if its answer cannot be read as one: it is not JSON, a batch, too large, too deep, has
// neither result nor error, or is also a request. Any other flaw is recorded, and the answer is passed on.

// MayPass reports whether observe mode passes on a flawed answer.
func (c *Call) MayPass(m *wire.Message) bool {
	grave := m.Flaws().Without(wireflaw.BadVersion, wireflaw.BadError, wireflaw.ResultAndError, wireflaw.DuplicateKey, wireflaw.FoldedName)
	return c.up.Options.Mode == ModeObserve && grave.Empty() && m.ID().Equal(c.id) && m.Method() == nil &&
		(m.Result().Present() || m.Error().Present())
}
