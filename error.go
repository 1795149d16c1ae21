package candor

import (
	"time"
)

// Error is a failure in canonical form: what every dialect writes and every reader returns.
//
// An Error is immutable. It is built by a constructor ([New], [NotRetryable], [ToolFailure], …) and
// changed by [Error.With], which returns a copy; so it may be shared between goroutines. All text in
// it is already redacted and bounded. The zero Error has no code; it is invalid, and says so.
type Error struct {
	code       Code
	message    string
	retry      Retry
	suggestion string
	details    Details
	origin     Origin
	ref        string
	context    Context
	cause      Cause
	err        error // private: for errors.Is and the operator, never written to a peer
	at         time.Time
	stack      string
	refused    string // a suggestion that was not taken, for Validate
}

// Context says where a failure happened. An empty field is unknown: it is left out on the wire, or null in
// the system-error dialect.
type Context struct {
	Tool          string
	Role          string
	SessionID     string
	WorkspaceRoot string // an absolute path; see [JSONOptions] for who may see it
	InvariantID   string
	PhaseID       string
	PlanHash      string
}

// Code returns the registered code; it is the zero Code only in an invalid Error.
func (e *Error) Code() Code { return e.code }

// Class returns what to do about it. It follows from the code.
func (e *Error) Class() Class { return e.code.Class() }

// Message returns one concise sentence for people and models. Programs act on [Error.Code].
func (e *Error) Message() string { return e.message }

// Retry returns whether the same call may be sent again.
func (e *Error) Retry() Retry { return e.retry }

// Suggestion returns what to do next, or "". It never contradicts [Error.Retry].
func (e *Error) Suggestion() string { return e.suggestion }

// Details returns the structured part.
func (e *Error) Details() Details { return e.details }

// Origin returns who says so, and whether it was said or inferred.
func (e *Error) Origin() Origin { return e.origin }

// Ref returns the correlation id that the ledger, the logs and the span share.
func (e *Error) Ref() string { return e.ref }

// Context returns where it happened.
func (e *Error) Context() Context { return e.context }

// Cause returns the redacted copy of what lay behind it.
func (e *Error) Cause() Cause { return e.cause }

// Time returns when it happened, in UTC with milliseconds, or the zero time if nobody said.
func (e *Error) Time() time.Time { return e.at }

// Stack returns the cleaned stack, or "" unless one was asked for.
func (e *Error) Stack() string { return e.stack }

// Unwrap returns the Go error behind this one, if any, so that errors.Is and errors.As see it.
func (e *Error) Unwrap() error { return e.err }

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
	c := *e
	c.apply(options)
	return &c
}

func (e *Error) apply(options []Option) {
	for i := range options {
		if options[i].apply != nil {
			options[i].apply(e, &options[i])
		}
	}
	e.settle()
}

// settle keeps the promises that span two fields, whatever order the options came in.
func (e *Error) settle() {
	if e.message == "" {
		e.message = e.code.Sentence()
	}
	if e.suggestion != "" {
		if _, bad := contradicts(e.retry, e.suggestion); bad {
			e.refused, e.suggestion = e.suggestion, ""
		}
	}
	if e.suggestion == "" && CheckSuggestion(e.retry, e.code.Action()) == nil {
		e.suggestion = e.code.Action()
	}
}
