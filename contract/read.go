package contract

import (
	"cmp"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Reading is the complete result for an answer.
type Reading struct {
	Conclusion
	// Error is the canonical error, or nil if the answer is clean.
	Error *candor.Error
	// Violations are breaches of the protocol; a clean answer may have some, too.
	Violations []Violation
}

// Read classifies an answer and, if it failed, interprets it. It accepts any bytes and gives the same result for the same bytes.
func Read(x *Exchange) Reading {
	c := Classify(x)
	return Reading{Conclusion: c, Error: Interpret(x, c), Violations: Violations(x)}
}

// Interpret returns the canonical error of an answer that was classified as c, or nil if c is clean. It does not classify again:
// pass the conclusion of [Classify], or that of a rule for the server.
func Interpret(x *Exchange, c Conclusion) *candor.Error {
	switch c.Verdict {
	case VerdictClean:
		return nil
	case VerdictLost:
		return (&heard{verdict: c.Verdict}).finish(x, inference{code: candor.CodeUpstreamGone})
	case VerdictStray:
		return (&heard{verdict: c.Verdict}).finish(x, inference{code: candor.CodeStrayAnswer})
	case VerdictMalformed:
		return (&heard{verdict: c.Verdict}).finish(x, inference{code: malformedCode(x)})
	case VerdictProtocol, VerdictTool, VerdictMasked:
	}
	if e := spoken(x); e != nil {
		return placed(e, x)
	}
	h := newHeard(x, c.Verdict)
	return h.finish(x, infer(h))
}

// ReadText returns the error for the text of a failed tool call. It reads the text like the only block of a result with isError.
func ReadText(text string) *candor.Error {
	if e := spokenText(text); e != nil {
		return e
	}
	return interpretSaid(foreign.ReadText(text, wire.Value{}), VerdictTool, wire.Value{})
}

// ReadResult returns the error of a tools/call result that is known to be a failure.
func ReadResult(result wire.Value) *candor.Error {
	if e := spokenIn(result, ""); e != nil {
		return e
	}
	if e := refusalIn(firstTextOf(result.Path("content"))); e != nil {
		return e
	}
	return interpretSaid(foreign.ReadResult(result, wire.Value{}), VerdictTool, wire.Value{})
}

// ReadRPCError returns the error of a JSON-RPC error object.
func ReadRPCError(object wire.Value) *candor.Error {
	if e := spokenIn(object, ""); e != nil {
		return e
	}
	return interpretSaid(hearError(object, wire.Value{}), VerdictProtocol, peerData(object))
}

// interpretSaid returns the error for a failure whose call is not known.
func interpretSaid(said foreign.Said, v Verdict, data wire.Value) *candor.Error {
	h := &heard{Said: said, verdict: v, data: data}
	h.first, h.text = h.ownWords(h.First), h.ownWords(h.Text)
	return h.finish(&Exchange{}, infer(h))
}

// malformedCode returns the code for a malformed answer. Size, depth, syntax and batches have their own codes.
func malformedCode(x *Exchange) candor.Code {
	switch x.Response.Malformation().Flaw {
	case wireflaw.TooLarge:
		return candor.CodeMessageTooLarge
	case wireflaw.TooDeep:
		return candor.CodeMessageTooDeep
	case wireflaw.NotJSON, wireflaw.Truncated:
		return candor.CodeParseError
	case wireflaw.Batch:
		return candor.CodeBatchUnsupported
	default:
		return candor.CodeMalformedMessage
	}
}

func method(x *Exchange) string {
	if x.Request == nil {
		return ""
	}
	return string(x.Request.Method())
}

// hear reads the content of a failed answer.
func hear(x *Exchange, args wire.Value) foreign.Said {
	m := &x.Response
	if m.Shape() == wire.KindError {
		return hearError(m.Error(), args)
	}
	return foreign.ReadResult(m.Result(), args)
}

// hearError reads a JSON-RPC error, even if it has no number or is not an object.
func hearError(e, args wire.Value) foreign.Said {
	code, numbered := e.Path("code").Int64()
	message, worded := e.Path("message").Str()
	switch {
	case numbered && worded:
		return foreign.ReadRPC(code, message, e.Path("data"), args)
	case e.Type() == wire.TypeString:
		text, _ := e.Str()
		return foreign.ReadText(text, args)
	default:
		return foreign.ReadValue(e, args)
	}
}

// finish builds the error. It keeps the facts that the peer sent beside the inferred code.
func (h *heard) finish(x *Exchange, i inference) *candor.Error {
	s := &h.Said
	set := make([]candor.Option, 0, 7)
	set = append(set, candor.WithOrigin(party(h.verdict), !i.said), candor.WithRef(cmp.Or(x.Ref, s.RequestID)),
		candor.WithTool(cmp.Or(h.toolOf(x), s.Tool)))
	if advice, given := retryOf(s, i.code, x); given {
		set = append(set, candor.WithRetry(advice))
	}
	if advice := cmp.Or(s.Suggestion, unlisted(s, i.code)); advice != "" {
		set = append(set, candor.WithSuggestion(advice))
	}
	if d := h.details(x); !d.IsZero() {
		set = append(set, candor.WithDetails(d))
	}
	if !x.At.IsZero() {
		set = append(set, candor.WithTime(x.At))
	}
	return candor.New(i.code, sentence(s), set...)
}

// toolOf returns the name of the called tool, even if h was built without the request.
func (h *heard) toolOf(x *Exchange) string {
	if h.ask.known {
		return h.ask.tool
	}
	return askOf(x.Request).tool
}

// unlisted returns a suggestion to use instead of the code's own, which refers to a list of issues, if the peer sent none. It
// returns "" if the code's own suggestion applies.
func unlisted(s *foreign.Said, code candor.Code) string {
	if len(s.Issues) > 0 {
		return ""
	}
	switch code {
	case candor.CodeInvalidArguments:
		return "Read the message, hold the arguments against the tool's input schema, and make a new call."
	case candor.CodePreconditionFailed:
		return "Do first what the message asks for, then make this call."
	default:
		return ""
	}
}

// sentence returns the peer's message, or "" if it does not name the cause, so that the catalogue's sentence is used.
func sentence(s *foreign.Said) string {
	if s.Masked {
		return ""
	}
	return strings.TrimSpace(s.Text)
}

func party(v Verdict) candor.Party {
	switch v {
	case VerdictProtocol:
		return candor.PartyServer
	case VerdictMalformed, VerdictLost, VerdictStray:
		return candor.PartyTransport
	case VerdictTool, VerdictMasked, VerdictClean:
		return candor.PartyTool
	default:
		return candor.PartyTool
	}
}

// retryOf returns the retry advice that the peer gave: a delay, a time, yes or no. Without it, given is false and the code's own
// advice applies.
func retryOf(s *foreign.Said, code candor.Code, x *Exchange) (advice candor.Retry, given bool) {
	switch {
	case s.Delayed && (s.Retryable == nil || *s.Retryable):
		return candor.RetryIn(s.RetryAfter), true
	case !s.RetryAt.IsZero() && !x.At.IsZero() && s.RetryAt.After(x.At):
		return candor.RetryIn(s.RetryAt.Sub(x.At)), true
	case s.Retryable == nil:
		return candor.Retry{}, false
	case !*s.Retryable:
		return candor.NoRetry(), true
	case code.Retry().Retryable():
		return code.Retry(), true
	default:
		return candor.RetryNow(), true
	}
}
