package contract

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/timestamp"
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
	return Reading{Conclusion: c, Error: Interpret(x, c), Violations: violations(x)}
}

// Interpret returns the canonical error of an answer that was classified as c, or nil if c is clean. It does not classify again:
// pass the conclusion of [Classify], or that of a rule for the server.
func Interpret(x *Exchange, c Conclusion) *candor.Error {
	switch c.Verdict {
	case VerdictClean:
		return nil
	case VerdictLost:
		return (&answerText{verdict: c.Verdict}).finish(x, Evidence{Code: candor.CodeUpstreamGone})
	case VerdictStray:
		return (&answerText{verdict: c.Verdict}).finish(x, Evidence{Code: candor.CodeStrayAnswer})
	case VerdictMalformed:
		return (&answerText{verdict: c.Verdict}).finish(x, Evidence{Code: malformedCode(x)})
	case VerdictProtocol, VerdictTool, VerdictMasked:
	}
	if e := spoken(x); e != nil {
		return placed(asQuotation(e, x), x)
	}
	h := newAnswerText(x, c.Verdict)
	return h.finish(x, infer(h))
}

// ReadText returns the error for the text of a failed tool call. It reads the text like the only block of a result with isError.
func ReadText(text string) *candor.Error {
	if e := spokenText(text); e != nil {
		return e
	}
	h := &answerText{Said: foreign.ReadText(text, wire.Value{}), verdict: VerdictTool}
	if len(text) <= maxWholeText {
		h.whole = redact.FoldLines(strings.TrimSpace(text))
	}
	return h.interpret()
}

// ReadResult returns the error of a tools/call result that is known to be a failure.
func ReadResult(result wire.Value) *candor.Error {
	if e, _ := spokenIn(result, ""); e != nil {
		return e
	}
	if e := refusalIn(firstTextOf(result.Path("content"))); e != nil {
		return e
	}
	h := &answerText{Said: foreign.ReadResult(result, wire.Value{}), verdict: VerdictTool, denial: denialIn(result), whole: wholeText(result)}
	return h.interpret()
}

// ReadRPCError returns the error of a JSON-RPC error object.
func ReadRPCError(object wire.Value) *candor.Error {
	if e, _ := spokenIn(object, ""); e != nil {
		return e
	}
	h := &answerText{Said: hearError(object, wire.Value{}), verdict: VerdictProtocol, data: peerData(object), denial: denialIn(object), whole: wholeText(object)}
	return h.interpret()
}

// interpret returns the error for a failure of an unknown call.
func (h *answerText) interpret() *candor.Error {
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
func (h *answerText) finish(x *Exchange, f Evidence) *candor.Error {
	s := &h.Said
	set := make([]candor.Option, 0, 7)
	set = append(set, candor.WithOrigin(party(h.verdict), h.infers(f)), candor.WithRef(cmp.Or(x.Ref, s.RequestID)),
		candor.WithTool(cmp.Or(h.toolOf(x), s.Tool)))
	if advice, given := retryOf(s, f.Code, x); given {
		set = append(set, candor.WithRetry(advice))
	}
	if advice := errnoAdvice(s, f.Code); advice != "" {
		set = append(set, candor.WithSuggestion(advice))
	}
	if d := h.details(x); h.denial.Present() {
		set = append(set, denialOptions(h.denial, d)...)
	} else if !d.IsZero() {
		set = append(set, candor.WithDetails(d))
	}
	if !x.At.IsZero() {
		set = append(set, candor.WithTime(x.At))
	}
	return candor.New(f.Code, cmp.Or(sentence(s), h.whole), set...)
}

// infers reports whether the code was inferred. A number or a word in a JSON-RPC error is not the server's own
// statement: most SDKs put the exception of a tool there.
func (h *answerText) infers(f Evidence) bool {
	return f.Strength != strengthSaid || h.verdict == VerdictProtocol && !h.denial.Present()
}

// toolOf returns the name of the called tool, even if h was built without the request.
func (h *answerText) toolOf(x *Exchange) string {
	if h.call.known {
		return h.call.tool
	}
	return callFactsOf(x.Request).tool
}

// errnoAdvice returns a suggestion that is more exact than the code's own, or "".
func errnoAdvice(s *foreign.Said, code candor.Code) string {
	if advice := tables().ErrnoAdvice[s.Errno]; len(s.Issues) == 0 && code == tables().Errno[s.Errno] {
		return advice
	}
	return ""
}

// sentence returns the peer's message, or "" if it does not name the cause, so that the catalogue's sentence is used.
func sentence(s *foreign.Said) string {
	if s.Masked {
		return ""
	}
	return redact.FoldLines(strings.TrimSpace(s.Text))
}

// maxWholeText is the length of the longest answer without a sentence that becomes the message as it is.
const maxWholeText = 300

// wholeText returns the only text of a result or of a JSON-RPC error as a message, for answers in which no sentence that names the cause
// is found, or "" if it is long. The catalogue's sentence would only stand before it.
func wholeText(answer wire.Value) string {
	text, _ := answer.Path("message").Str()
	if content := answer.Path("content"); content.Len() == 1 {
		text, _ = firstTextOf(content).Str()
	}
	if len(text) > maxWholeText {
		return ""
	}
	return redact.FoldLines(strings.TrimSpace(text))
}

// asQuotation returns an error that was read from an envelope with its suggestion in details.said, if the exchange asks for that.
func asQuotation(e *candor.Error, x *Exchange) *candor.Error {
	if !x.Quote {
		return e
	}
	if folded := redact.FoldLines(e.Message()); folded != e.Message() {
		e = e.With(candor.WithMessage(folded))
	}
	own := e.Suggestion()
	plain := readingAdvice.Get().ReplaceAllString(own, toCheck) // AvoidSecondEffect writes it again
	switch plain {
	case "", e.Code().Info().Action, CheckEffect:
		return e.With(candor.WithSuggestion(plain))
	default:
		return e.With(candor.WithSuggestion(""), candor.WithDetails(e.Details().With("said", e.Details().Get("said").With("suggestion", own))))
	}
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

// details returns the peer's facts: the failing fields, the data of a JSON-RPC error, and under "said" the facts found in its
// text.
func (h *answerText) details(x *Exchange) candor.Details {
	var d candor.Details
	if said := saidFacts(&h.Said); said != nil {
		d = d.With("said", said)
	}
	if h.data.Present() {
		d = d.With("data", json.RawMessage(h.data.Raw()))
	}
	if flaw := x.Response.Malformation().Flaw; !x.Lost && flaw != wireflaw.None {
		d = d.With("malformation", flaw.String())
	}
	if len(h.Issues) > 0 {
		d = d.With("issues", h.Issues)
	}
	return d
}

// peerData returns the data of a JSON-RPC error, to which the peer's advice may refer, such as the supported versions. It is
// absent if it is empty, holds Candor's envelope, or is only a denial, which has its own member of the details.
func peerData(object wire.Value) wire.Value {
	data := object.Path("data")
	if !says(data) || data.Path(dialect.MetaKey).Present() || data.Len() == 1 && denialIn(object).Present() {
		return wire.Value{}
	}
	return data
}

// saidFacts returns the facts found in the peer's text, or nil.
func saidFacts(s *foreign.Said) map[string]any {
	var facts map[string]any
	put := func(name string, value any, known bool) {
		if !known {
			return
		}
		if facts == nil {
			facts = make(map[string]any)
		}
		facts[name] = value
	}
	put("symbols", s.Symbols, len(s.Symbols) > 0)
	put("number", s.Number, s.Numbered)
	put("status", s.Status, s.Status != 0)
	put("errno", s.Errno, s.Errno != "")
	put("exception", s.Exception, s.Exception != "")
	put("requestId", s.RequestID, s.RequestID != "")
	put("suggestion", s.Suggestion, s.Suggestion != "")
	put("retryAfterMs", s.RetryAfter.Milliseconds(), s.Delayed)
	if !s.RetryAt.IsZero() {
		put("retryAt", s.RetryAt.UTC().Format(timestamp.Layout), true)
	}
	if s.Retryable != nil {
		put("retryable", *s.Retryable, true)
	}
	return facts
}
