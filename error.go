package candor

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
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
	WorkspaceRoot string // an absolute path; see [JSONOptions] for who may see it
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

// Ref returns the correlation id that the ledger, the logs and the span share, or "" if none is set; see [Error.WireRef].
func (e *Error) Ref() string { return e.orZero().ref }

// CallInfo returns the description of the call that failed.
func (e *Error) CallInfo() CallInfo { return e.orZero().callInfo }

// Cause returns the redacted copy of the error behind this one.
func (e *Error) Cause() Cause { return e.orZero().cause }

// Time returns the time of the failure, in UTC with milliseconds, or the zero time if it is not known.
func (e *Error) Time() time.Time { return e.orZero().at }

// Stack returns the cleaned stack, or "" if none was attached.
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

// New builds an error with a registered code. If message is empty, the code's public sentence is used; retry advice and suggestion
// come from the catalogue unless an option sets them.
//
// A zero code gives an invalid Error: [Error.Validate] reports it, and on the wire it is UNCODED_ERROR.
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
		e.message = e.code.Sentence()
	}
	if !e.retrySet && e.asked == "" { // a test checks that the catalogue does not contradict itself
		e.suggestion = e.code.Action()
		return
	}
	e.suggestion = ""
	for _, text := range [...]string{e.asked, e.code.Action()} {
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
	switch p {
	case PartyTool, PartyServer, PartyGateway, PartyTransport, PartyClient:
		return true
	default:
		return false
	}
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

// ToolFailure builds an error that a tool reports.
func ToolFailure(code Code, tool, message string, options ...Option) *Error {
	return New(code, message, append([]Option{WithTool(tool)}, options...)...)
}

// InvariantViolation builds the error of a broken invariant, named by id. A cause given as an option is kept.
func InvariantViolation(id, message string, options ...Option) *Error {
	set := []Option{WithInvariant(id), WithOrigin(PartyServer, false)}
	return New(codeInvariantViolation, message, append(set, options...)...)
}

// StartupFailure builds an error that prevents a server from starting. It has no role, session or workspace, because a session
// does not exist yet, and its tool is "startup", whatever the options set.
func StartupFailure(code Code, message string, options ...Option) *Error {
	set := append([]Option{WithOrigin(PartyServer, false)}, options...)
	return New(code, message, append(set, WithTool("startup"), WithSession("", "", ""))...)
}

// Numbered builds an error from a registered number, such as 2100. For a number that is not registered it returns an error that
// names the domain whose range contains it.
func Numbered(number int, message string, options ...Option) (*Error, error) {
	code, ok := LookupNumber(number)
	if !ok {
		return nil, fmt.Errorf("number %d is not registered%s", number, rangeHint(number))
	}
	return New(code, message, options...), nil
}

func rangeHint(number int) string {
	for _, d := range domains {
		if number >= int(d.from) && number <= int(d.to) {
			return fmt.Sprintf(" (the range %d to %d belongs to %s)", d.from, d.to, d.name)
		}
	}
	return ""
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

var errNoCode = errors.New("candor: invalid error: it has no registered code; build errors with candor.New")

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
		line("time", e.at.Format(TimeLayout))
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
