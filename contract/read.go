package contract

import (
	"cmp"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect/foreign"
	"github.com/candor-mcp/candor/wire"
)

// Reading is everything the contract has to say about an answer.
type Reading struct {
	Conclusion
	// Error is the canonical error, nil if the answer is clean.
	Error *candor.Error
	// Violations are faults of form; a clean answer may have some too.
	Violations []Violation
}

// Read classifies an answer and, if it failed, says how. It is total and gives the same answer for the same bytes.
func Read(x *Exchange) Reading {
	r := Reading{Conclusion: Classify(x), Violations: Violations(x)}
	if r.Verdict.Failure() {
		r.Error = errorOf(x, r.Conclusion)
	}
	return r
}

// errorOf builds the canonical error of a failure. One that speaks a dialect is taken at its word.
func errorOf(x *Exchange, f Conclusion) *candor.Error {
	switch f.Verdict {
	case VerdictLost:
		return finish(x, f, foreign.Said{}, inference{code: candor.CodeUpstreamGone})
	case VerdictStray:
		return finish(x, f, foreign.Said{}, inference{code: candor.CodeStrayAnswer})
	case VerdictMalformed:
		return finish(x, f, foreign.Said{}, inference{code: malformedCode(x)})
	case VerdictProtocol, VerdictTool, VerdictMasked, VerdictClean:
	}
	if e := spoken(x); e != nil {
		return placed(e, x)
	}
	h := newHeard(x, f.Verdict)
	return finish(x, f, h.Said, infer(h))
}

// malformedCode tells the size and the depth apart from other harm.
func malformedCode(x *Exchange) candor.Code {
	switch x.Response.Malformation().Flaw {
	case wire.FlawTooLarge:
		return candor.CodeMessageTooLarge
	case wire.FlawTooDeep:
		return candor.CodeMessageTooDeep
	case wire.FlawNotJSON, wire.FlawTruncated:
		return candor.CodeParseError
	case wire.FlawBatch:
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

// hear collects what the peer said, wherever the message says it.
func hear(x *Exchange) foreign.Said {
	m := &x.Response
	args := askOf(x.Request).args
	if m.Shape() == wire.KindError {
		return hearError(m.Error(), args)
	}
	return foreign.ReadResult(m.Result(), args)
}

// hearError reads a JSON-RPC error, also one that has no number or is no object at all.
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

// finish puts the parts together. What the peer said is kept beside what it was taken to mean.
func finish(x *Exchange, f Conclusion, s foreign.Said, i inference) *candor.Error {
	set := []candor.Option{
		candor.WithOrigin(party(f.Verdict), !i.said),
		candor.WithRef(refOf(x, &s)),
		candor.WithTool(toolOf(x, &s)),
	}
	if advice, given := retryOf(&s, i.code, x); given {
		set = append(set, candor.WithRetry(advice))
	}
	if advice := cmp.Or(s.Suggestion, unlisted(&s, i.code)); advice != "" {
		set = append(set, candor.WithSuggestion(advice))
	}
	if d := detailsOf(x, &s); !d.IsZero() {
		set = append(set, candor.WithDetails(d))
	}
	if !x.At.IsZero() {
		set = append(set, candor.WithTime(x.At))
	}
	return candor.New(i.code, sentence(&s), set...)
}

// unlisted is the advice of a code that points to its details, for a peer that has put it all into its sentence; "" if there is no other.
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

// sentence is the peer's own, unless it says nothing: the catalogue's then says more.
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

// retryOf returns the advice that was given: a delay, a moment, a yes or no. Otherwise the code's own advice holds.
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

func refOf(x *Exchange, s *foreign.Said) string {
	if x.Ref != "" {
		return x.Ref
	}
	return s.RequestID
}

func toolOf(x *Exchange, s *foreign.Said) string {
	if tool := askOf(x.Request).tool; tool != "" {
		return tool
	}
	return s.Tool
}
