package candor

import "time"

// Error is a failure in canonical form: what every dialect writes and every reader returns.
//
// An Error is immutable. It is built by a constructor ([New], [NotRetryable], [ToolFailure], …) and
// changed by [Error.With], which returns a copy; so it may be shared between goroutines. All text in
// it is already redacted and bounded. The zero Error has no code; it is invalid, and says so. All methods of a nil
// *Error are safe, because [From] gives one for nil: it has no properties and With leaves it nil.
type Error struct {
	code       Code
	message    string
	retry      Retry
	retrySaid  bool   // retry was given, and does not follow from the code
	said       string // the suggestion that was asked for; see settle
	suggestion string
	details    Details
	origin     Origin
	ref        string
	callInfo   CallInfo
	cause      Cause
	err        error // private: for errors.Is and the operator, never written to a peer
	at         time.Time
	stack      string
}

// CallInfo says where a failure happened. An empty field is unknown: it is left out on the wire, or null in
// the system-error dialect.
type CallInfo struct {
	Tool          string
	Role          string
	SessionID     string
	WorkspaceRoot string // an absolute path; see [JSONOptions] for who may see it
	InvariantID   string
	PhaseID       string
	PlanHash      string
}

// cleaned is c as it may stand in an error.
func (c CallInfo) cleaned() CallInfo {
	return CallInfo{
		Tool: label(c.Tool), Role: label(c.Role), SessionID: label(c.SessionID),
		WorkspaceRoot: cleanRoot(c.WorkspaceRoot), InvariantID: label(c.InvariantID),
		PhaseID: label(c.PhaseID), PlanHash: label(c.PlanHash),
	}
}

// Code returns the registered code; it is the zero Code only in an invalid Error.
func (e *Error) Code() Code { return e.orZero().code }

// Class returns what to do about it. It follows from the code.
func (e *Error) Class() Class { return e.orZero().code.Class() }

// Message returns one concise sentence for people and models. Programs act on [Error.Code].
func (e *Error) Message() string { return e.orZero().message }

// Retry returns whether the same call may be sent again.
func (e *Error) Retry() Retry { return e.orZero().retry }

// RetryGiven reports whether the retry advice was given by [WithRetry], and does not follow from the code.
func (e *Error) RetryGiven() bool { return e.orZero().retrySaid }

// Suggestion returns what to do next, or "". It never contradicts [Error.Retry].
func (e *Error) Suggestion() string { return e.orZero().suggestion }

// Details returns the structured part.
func (e *Error) Details() Details { return e.orZero().details }

// Origin returns who says so, and whether it was said or inferred.
func (e *Error) Origin() Origin { return e.orZero().origin }

// Ref returns the correlation id that the ledger, the logs and the span share, or "" if nobody has given one; see
// [Error.WireRef].
func (e *Error) Ref() string { return e.orZero().ref }

// CallInfo returns where it happened.
func (e *Error) CallInfo() CallInfo { return e.orZero().callInfo }

// Cause returns the redacted copy of what lay behind it.
func (e *Error) Cause() Cause { return e.orZero().cause }

// Time returns when it happened, in UTC with milliseconds, or the zero time if nobody said.
func (e *Error) Time() time.Time { return e.orZero().at }

// Stack returns the cleaned stack, or "" unless one was asked for.
func (e *Error) Stack() string { return e.orZero().stack }

// Unwrap returns the Go error behind this one, if any, so that errors.Is and errors.As see it.
func (e *Error) Unwrap() error { return e.orZero().err }

var zeroError Error

func (e *Error) orZero() *Error {
	if e == nil {
		return &zeroError
	}
	return e
}

// New builds an error of a registered code. An empty message stands for the code's public sentence; retry
// advice and suggestion come from the catalogue unless an option says otherwise.
//
// A zero code gives an invalid Error: [Error.Validate] explains it, and on the wire it is UNCODED_ERROR, never
// a code that somebody might have meant.
func New(code Code, message string, options ...Option) *Error {
	e := &Error{code: code, retry: code.Retry(), origin: Origin{By: PartyTool}}
	e.message = publicText(message, MaxMessage)
	e.apply(options)
	return e
}

// With returns a copy of e with the options applied. e itself does not change.
func (e *Error) With(options ...Option) *Error {
	if e == nil {
		return nil
	}
	c := *e
	c.set(options)
	if c.code != e.code || c.retry != e.retry || c.said != e.said || c.message == "" {
		c.settle() // anything else leaves the promises as they were
	}
	return &c
}

func (e *Error) apply(options []Option) {
	e.set(options)
	e.settle()
}

func (e *Error) set(options []Option) {
	for i := range options {
		options[i].apply(e)
	}
}

// settle keeps the promises that span two fields, whatever order the options came in: the suggestion is the one that
// was asked for, or where that contradicts the retry advice the catalogue's, or where that does too, none.
func (e *Error) settle() {
	if e.message == "" {
		e.message = e.code.Sentence()
	}
	if !e.retrySaid && e.said == "" { // a test holds that the catalogue does not contradict itself
		e.suggestion = e.code.Action()
		return
	}
	e.suggestion = ""
	for _, text := range [...]string{e.said, e.code.Action()} {
		if _, bad := contradicts(e.retry, text); !bad && text != "" {
			e.suggestion = text
			return
		}
	}
}
