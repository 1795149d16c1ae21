// Package candor has the error value with which MCP servers report failures. An [Error] says what went wrong ([Error.Code]), what to do
// about it ([Error.Class]), whether the same call may be sent again ([Error.Retry]) and what to do next ([Error.Suggestion]).
//
// # When do I need it?
//
// Use it in a tool handler to choose the code of a failure, and in a client to act on one. To handle all failures of a server, use
// package serve or boundary; to read the failures of any server, use package client.
//
// # How do I build an error?
//
// An error is built from a registered code; everything else has a default from the catalogue.
//
//	err := candor.New(kaiza.FileNotFound, "",
//		candor.WithDetails(map[string]any{"path": "notes.txt"}),
//		candor.WithCause(cause))
//
// A program cannot make up a code: [Code] is the number of a registered one. Candor's own codes are constants of this package, such as [CodeTimeout]; the
// vocabularies of other systems are generated packages below codes, such as codes/kaiza. The zero Error is invalid, and [Error.Validate]
// reports it.
//
// # How do I convert another error?
//
// [From] turns any Go error into an *Error, and [FromUnknown] any recovered panic value. Both return an *Error unchanged.
//
// # What is shown to the peer?
//
// All prose is redacted and bounded when it enters an error, so no dialect and no transport can leak text that an error does not
// hold. Identifiers (tool, session, ref and the like) are bounded and cleaned of control characters, but otherwise kept, because
// operators search for them later. The Go error of an Error is reachable through [errors.Is] and [errors.As] and is never written
// to a peer; its redacted copy is [Error.Cause].
//
// The package does no I/O and reads no clock: the caller passes in the time, the correlation id and the stack policy.
package candor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/stacks"
	"github.com/candor-mcp/candor/internal/timestamp"
)

// Error is a failure in canonical form: every dialect writes it and every reader returns it.
//
// An Error is immutable and may be shared between goroutines. A constructor ([New], [NotRetryable], [ToolFailure], …) builds
// one, and [Error.With] returns a changed copy. All text in it is redacted and bounded. The zero Error has no code and is
// invalid. All methods of a nil *Error are safe, because [From] returns one for nil: they return zero values, and With returns nil.
type Error struct {
	code       Code
	message    string
	retry      Retry
	retrySet   bool   // retry was set by an option
	asked      string // the suggestion that the caller set; see derive
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

// CallInfo describes the call that failed. An empty field is unknown: it is omitted on the wire, or null in the system-error
// dialect.
type CallInfo struct {
	Tool          string
	Role          string
	SessionID     string
	WorkspaceRoot string // an absolute path; see [JSONOptions]
	InvariantID   string
	PhaseID       string
	PlanHash      string
}

// cleaned returns c with every field cleaned and bounded.
func (c CallInfo) cleaned() CallInfo {
	return CallInfo{
		Tool: label(c.Tool), Role: label(c.Role), SessionID: label(c.SessionID),
		WorkspaceRoot: cleanRoot(c.WorkspaceRoot), InvariantID: label(c.InvariantID),
		PhaseID: label(c.PhaseID), PlanHash: label(c.PlanHash),
	}
}

// Code returns the registered code; it is the zero Code only in an invalid Error.
func (e *Error) Code() Code { return e.orZero().code }

// Class returns the class of the code, which says what to do about the failure.
func (e *Error) Class() Class { return e.orZero().code.Class() }

// Message returns one concise sentence for people and models. Programs act on [Error.Code].
func (e *Error) Message() string { return e.orZero().message }

// Retry returns whether the same call may be sent again.
func (e *Error) Retry() Retry { return e.orZero().retry }

// RetryGiven reports whether the retry advice was set by [WithRetry] and not taken from the code.
func (e *Error) RetryGiven() bool { return e.orZero().retrySet }

// Suggestion returns what to do next, or "". It never contradicts [Error.Retry].
func (e *Error) Suggestion() string { return e.orZero().suggestion }

// Details returns the structured part.
func (e *Error) Details() Details { return e.orZero().details }

// Origin returns which party failed, and whether it was stated or inferred.
func (e *Error) Origin() Origin { return e.orZero().origin }

// Ref returns the correlation id that the ledger, the logs and the span share, or "" if none is set.
func (e *Error) Ref() string { return e.orZero().ref }

// CallInfo returns the description of the call that failed.
func (e *Error) CallInfo() CallInfo { return e.orZero().callInfo }

// Cause returns the redacted copy of the error that led to this one.
func (e *Error) Cause() Cause { return e.orZero().cause }

// Time returns the time of the failure, in UTC with milliseconds, or the zero time if it is not known.
func (e *Error) Time() time.Time { return e.orZero().at }

// Stack returns the cleaned stack, or "" if none was attached.
func (e *Error) Stack() string { return e.orZero().stack }

// Unwrap returns the Go error that led to this one, if any, so that errors.Is and errors.As see it.
func (e *Error) Unwrap() error { return e.orZero().err }

var zeroError Error

func (e *Error) orZero() *Error {
	if e == nil {
		return &zeroError
	}
	return e
}

// New builds an error with a registered code. If message is empty, the code's public sentence is used; retry advice and suggestion
// come from the catalogue unless an option sets them.
//
// A zero code gives an invalid Error: [Error.Validate] reports it, and on the wire it is UNCODED_ERROR.
func New(code Code, message string, options ...Option) *Error {
	e := &Error{code: code, retry: code.Retry(), origin: Origin{By: PartyTool}}
	e.message = publicText(message, limits.Message)
	if stacks.Captured.Load() {
		var pcs [64]uintptr
		e.stack = stackOf(pcs[:runtime.Callers(2, pcs[:])])
	}
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
	if c.code != e.code || c.retry != e.retry || c.asked != e.asked || c.message == "" {
		c.derive() // derive depends on no other field
	}
	return &c
}

func (e *Error) apply(options []Option) {
	e.set(options)
	e.derive()
}

func (e *Error) set(options []Option) {
	for i := range options {
		options[i].apply(e)
	}
}

// derive sets the fields that depend on others, so that the order of options does not matter. An empty message becomes the code's
// sentence. The suggestion is the one that the caller set or, if that contradicts the retry advice, the catalogue's; if both
// contradict it, the suggestion is empty.
func (e *Error) derive() {
	if e.message == "" {
		e.message = e.code.info().message
	}
	if !e.retrySet && e.asked == "" { // a test checks that the catalogue does not contradict itself
		e.suggestion = e.code.info().action
		return
	}
	e.suggestion = ""
	for _, text := range [...]string{e.asked, e.code.info().action} {
		if _, bad := contradicts(e.retry, text); !bad && text != "" {
			e.suggestion = text
			return
		}
	}
}

// Party is the component that a failure comes from.
type Party string

// The parties, from the inside out.
const (
	PartyTool      Party = "tool"      // the tool ran and reported a failure
	PartyServer    Party = "server"    // the MCP server refused the call or failed outside the tool
	PartyGateway   Party = "gateway"   // the proxy between client and server
	PartyTransport Party = "transport" // the connection failed
	PartyClient    Party = "client"    // the caller
)

// Valid reports whether p is one of the five parties.
func (p Party) Valid() bool {
	return slices.Contains([]Party{PartyTool, PartyServer, PartyGateway, PartyTransport, PartyClient}, p)
}

// Origin is the party that failed, and whether that party stated the code or Candor inferred it from text. Trust inferred retry
// advice less.
type Origin struct {
	By       Party
	Inferred bool
}

// NotRetryable builds an error after which the same call would fail again.
func NotRetryable(code Code, message string, options ...Option) *Error {
	return New(code, message, append([]Option{WithRetry(NoRetry())}, options...)...)
}

// RetryableImmediately builds an error after which the same call may be sent again at once.
func RetryableImmediately(code Code, message string, options ...Option) *Error {
	return New(code, message, append([]Option{WithRetry(RetryNow())}, options...)...)
}

// RetryableAfter builds an error after which the same call may be sent again in d.
func RetryableAfter(code Code, d time.Duration, message string, options ...Option) *Error {
	return New(code, message, append([]Option{WithRetry(RetryIn(d))}, options...)...)
}

// Error returns "CODE: message", or a description of the problem for an invalid Error.
func (e *Error) Error() string {
	if e == nil {
		return "candor: nil error"
	}
	if err := e.validCode(); err != nil {
		return err.Error()
	}
	return e.code.Symbol() + ": " + e.message
}

// Validate returns nil for a usable error. Otherwise the error says that the code is missing, or that the suggestion was refused
// because it contradicted the retry advice.
func (e *Error) Validate() error {
	if err := e.validCode(); err != nil {
		return err
	}
	return CheckSuggestion(e.retry, e.asked)
}

var errNoCode = errors.New("candor: invalid error: no registered code; build errors with candor.New")

func (e *Error) validCode() error {
	if e == nil || !e.code.Valid() {
		return errNoCode
	}
	return nil
}

// Format writes [Error.Error] for %v and %s, a quoted form for %q, and for %+v a block with the details for an operator, one field
// per line and the stack last.
func (e *Error) Format(f fmt.State, verb rune) {
	text := e.Error()
	switch {
	case verb == 'v' && f.Flag('+') && e != nil:
		text = e.block()
	case verb == 'q':
		text = fmt.Sprintf("%q", text)
	}
	// A formatter cannot report a failed write; fmt also ignores it.
	_, _ = io.WriteString(f, text)
}

func (e *Error) block() string {
	var b strings.Builder
	b.WriteString(e.Error())
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "\n  %-10s %s", name, value)
		}
	}
	line("code", fmt.Sprintf("%s %d", e.code, e.code.Number()))
	line("class", string(e.Class()))
	line("retry", e.retry.String())
	line("do", e.suggestion)
	line("details", e.details.String())
	line("tool", e.callInfo.Tool)
	line("session", e.callInfo.SessionID)
	line("ref", e.ref)
	if !e.at.IsZero() {
		line("time", e.at.Format(timestamp.Layout))
	}
	line("cause", e.cause.Message)
	if e.stack != "" {
		b.WriteString("\n" + e.stack)
	}
	return b.String()
}

// LogValue returns the error as a group of attributes for log/slog: code, class, message, retry and the other known fields.
func (e *Error) LogValue() slog.Value {
	if err := e.validCode(); err != nil {
		return slog.StringValue(err.Error())
	}
	attrs := []slog.Attr{
		slog.String("code", e.code.Symbol()),
		slog.String("class", string(e.Class())),
		slog.String("message", e.message),
		slog.String("retry", e.retry.String()),
	}
	for _, a := range []struct{ name, value string }{
		{"domain", e.code.Domain()}, {"tool", e.callInfo.Tool}, {"session_id", e.callInfo.SessionID}, {"ref", e.ref},
		{"cause", e.cause.Message}, {"details", e.details.String()},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.name, a.value))
		}
	}
	return slog.GroupValue(attrs...)
}

//go:generate go run ./internal/catalogue/gen
//go:generate go run ./internal/tools/checklist -promises docs/promises.md

// Ledger records failures before they are sent. *ledger.Ledger implements it.
//
// RecordFailure returns nil only if the record is durable. It must be safe for concurrent use, and must not keep the slices of f.
type Ledger interface {
	RecordFailure(ctx context.Context, f Failure) error
}

// SuccessLedger is a [Ledger] that also records successful calls.
type SuccessLedger interface {
	RecordSuccess(ctx context.Context, s Success) error
}

// Failure describes a failed call for a [Ledger].
type Failure struct {
	Error     *Error
	Verdict   string        // why it is a failure, as package contract names it
	Method    string        // the JSON-RPC method
	Upstream  string        // the name of the server that failed, which may be the one that records it; "" if unknown
	Arguments []byte        // recorded as a digest only
	Received  []byte        // the message of a gateway's server
	Sent      []byte        // the envelope that is sent; nil if no response is sent
	Attempt   int           // counted from 1; 0 if calls are not repeated
	Latency   time.Duration // since the call was forwarded
	Retried   bool          // another attempt follows
	Suspected bool          // the response looks like a failure and is sent unchanged
	Rule      string        // the rule of package contract of a suspicion; "" for other failures
	Source    string        // the kind of content that the suspected tool returns, as package contract names it
	Client    string        // the client program, as package contract names it; "" if it is unknown
	Redacted  bool          // Received and Sent hold no secrets, so a ledger need not look for them again
}

// Success describes a successful call for a [SuccessLedger].
type Success struct {
	Tool      string
	SessionID string
	Arguments []byte // recorded as a digest only
	Latency   time.Duration
}

// Meter counts failures. *meter.Meter implements it. Its methods must be fast and safe for concurrent use.
type Meter interface {
	// Count counts a failure that was recorded.
	Count(err *Error, verdict string)
	// CountSuppressed counts a failure that was counted but not sent, because the protocol allows no response.
	CountSuppressed()
	// CountUnrecorded counts a failure that could not be recorded. It is not part of the total.
	CountUnrecorded(err *Error)
}
