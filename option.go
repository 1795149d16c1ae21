package candor

import (
	"fmt"
	"time"

	"github.com/candor-mcp/candor/internal/catalogue/contradiction"
	"github.com/candor-mcp/candor/internal/limits"
)

// Option sets one part of an [Error]. It is a plain value without functions, so that options need
// no allocation.
type Option struct {
	kind  optionKind
	flag  bool
	text  string
	data  any
	retry Retry
	at    time.Time
}

// optionKind is the part that an option sets. The zero Option sets none.
type optionKind uint8

const (
	optionNone optionKind = iota
	optionMessage
	optionRetry
	optionSuggestion
	optionDetails
	optionIssues
	optionCause
	optionCauseText
	optionOrigin
	optionRef
	optionTime
	optionStack
	optionTool
	optionCallInfo
	optionSession
	optionOtherwise
)

// apply sets the option's part of e. It is long because it is one switch with a case for each kind.
func (o *Option) apply(e *Error) {
	switch o.kind {
	case optionNone:
	case optionMessage:
		e.message = publicText(o.text, limits.Message)
	case optionRetry:
		e.retry, e.retrySet = o.retry, true
	case optionSuggestion:
		e.asked = publicText(o.text, limits.Suggestion)
	case optionDetails:
		e.details = DetailsOf(o.data)
	case optionIssues:
		if list, ok := o.data.([]Issue); ok && len(list) > 0 {
			e.details = e.details.With("issues", list)
		}
	case optionCause:
		if err, ok := o.data.(error); ok && err != nil {
			e.wrap(err)
		}
	case optionCauseText:
		e.cause = causeOf(o.data)
	case optionOrigin:
		if by := Party(o.text); by.Valid() {
			e.origin = Origin{By: by, Inferred: o.flag}
		}
	case optionRef:
		e.ref = label(o.text)
	case optionTime:
		e.at = o.at.UTC().Truncate(time.Millisecond)
	case optionStack:
		e.stack = fitText(o.text, limits.Stack, limits.Stack+len(`""`))
	case optionTool:
		e.callInfo.Tool = label(o.text)
	case optionCallInfo:
		if c, ok := o.data.(CallInfo); ok {
			e.callInfo = c.cleaned()
		}
	case optionSession:
		if s, ok := o.data.([3]string); ok {
			e.callInfo.SessionID, e.callInfo.Role, e.callInfo.WorkspaceRoot = label(s[0]), label(s[1]), cleanRoot(s[2])
		}
	case optionOtherwise:
		if code, ok := o.data.(Code); ok {
			e.otherwise(code)
		}
	}
}

// WithMessage replaces the message.
func WithMessage(text string) Option {
	return Option{kind: optionMessage, text: text}
}

// WithRetry replaces the retry advice.
func WithRetry(r Retry) Option {
	return Option{kind: optionRetry, retry: r}
}

// WithSuggestion sets the suggestion, which says what to do next. Text that contradicts the retry advice is replaced by
// the catalogue's suggestion, and [Error.Validate] reports it. See [CheckSuggestion].
func WithSuggestion(text string) Option {
	return Option{kind: optionSuggestion, text: text}
}

// WithDetails attaches any Go value as structured details. The value is copied into safe, bounded JSON when the option
// is applied; it is not kept or changed.
func WithDetails(v any) Option {
	return Option{kind: optionDetails, data: v}
}

// WithIssues attaches validation issues as details.issues, keeping the other details.
func WithIssues(issues ...Issue) Option {
	return Option{kind: optionIssues, data: issues}
}

// WithCause wraps err: errors.Is and errors.As see it, and the peer sees its redacted copy. If errors.Is would panic on
// err or not return, as with a nil *fs.PathError, only the copy is kept.
func WithCause(err error) Option {
	return Option{kind: optionCause, data: err}
}

// WithCauseText attaches a cause that is not a Go error, such as one read from the wire.
func WithCauseText(c Cause) Option {
	return Option{kind: optionCauseText, data: c}
}

// WithOrigin sets which party failed, and whether that was stated or inferred. An unknown party changes nothing.
func WithOrigin(by Party, inferred bool) Option {
	return Option{kind: optionOrigin, text: string(by), flag: inferred}
}

// WithRef sets the correlation id.
func WithRef(ref string) Option {
	return Option{kind: optionRef, text: ref}
}

// WithTime sets the time of the failure, which is kept in UTC to the millisecond.
func WithTime(at time.Time) Option {
	return Option{kind: optionTime, at: at}
}

// WithStack attaches a stack made by [StackPolicy.Frames]; "" removes it.
func WithStack(stack string) Option {
	return Option{kind: optionStack, text: stack}
}

// WithTool names the tool.
func WithTool(name string) Option {
	return Option{kind: optionTool, text: name}
}

// WithCallInfo sets the whole call info.
func WithCallInfo(c CallInfo) Option {
	return Option{kind: optionCallInfo, data: c}
}

// WithSession sets the session's id, role and workspace root.
func WithSession(id, role, root string) Option {
	return Option{kind: optionSession, data: [3]string{id, role, root}}
}

// Otherwise replaces INTERNAL_ERROR, to which [From] and [FromUnknown] fall back, by a more specific code. It changes
// nothing if they found another code.
func Otherwise(code Code) Option {
	return Option{kind: optionOtherwise, data: code}
}

// otherwise implements [Otherwise].
func (e *Error) otherwise(code Code) {
	if !code.Valid() || e.code != CodeInternalError {
		return
	}
	if e.message == e.code.info().message {
		e.message = code.info().message
	}
	e.code = code
	if !e.retrySet {
		e.retry = code.Retry()
	}
}

// RetryKind is the wire spelling of a [Retry]. There are exactly three.
type RetryKind string

// The three kinds of retry advice.
const (
	RetryNever     RetryKind = "not_retryable"
	RetryImmediate RetryKind = "retryable_immediate"
	RetryAfterMs   RetryKind = "retryable_after_ms"
)

// Retry says whether the same call may be sent again, and when. Its fields are private, so that a fourth kind or a
// delay on a kind without one can exist. The zero Retry is not_retryable.
type Retry struct {
	kind    uint8 // 0 never, 1 immediate, 2 after
	afterMs int64 // > 0 iff kind is 2
}

// NoRetry returns the advice not to repeat the call unchanged.
func NoRetry() Retry { return Retry{} }

// RetryNow returns the advice that the same call may be sent again at once.
func RetryNow() Retry { return Retry{kind: 1} }

// RetryIn returns the advice to wait for d, rounded up to a whole millisecond and limited to a week. A delay of zero or
// less gives [RetryNow].
func RetryIn(d time.Duration) Retry {
	if d <= 0 {
		return RetryNow()
	}
	d = min(d, limits.RetryAfter)
	return Retry{kind: 2, afterMs: int64((d + time.Millisecond - 1) / time.Millisecond)}
}

// ParseRetry reads the wire form. It returns an error for a kind outside the closed set, a missing or non-positive
// delay on retryable_after_ms, and a delay on the other two. A delay longer than a week is reduced to it.
func ParseRetry(kind RetryKind, afterMs *int64) (Retry, error) {
	switch kind {
	case RetryNever, RetryImmediate:
		if afterMs != nil {
			return Retry{}, fmt.Errorf("retry kind %s takes no afterMs", kind)
		}
		if kind == RetryImmediate {
			return RetryNow(), nil
		}
		return NoRetry(), nil
	case RetryAfterMs:
		if afterMs == nil || *afterMs <= 0 {
			return Retry{}, fmt.Errorf("retry kind %s needs afterMs, a whole number above 0", kind)
		}
		return RetryIn(time.Duration(min(*afterMs, limits.RetryAfter.Milliseconds())) * time.Millisecond), nil
	default:
		return Retry{}, fmt.Errorf("retry kind %q: want %s, %s or %s", kind, RetryNever, RetryImmediate, RetryAfterMs)
	}
}

// Kind returns the wire spelling.
func (r Retry) Kind() RetryKind {
	switch r.kind {
	case 1:
		return RetryImmediate
	case 2:
		return RetryAfterMs
	default:
		return RetryNever
	}
}

// Retryable reports whether the same call may be sent again.
func (r Retry) Retryable() bool { return r.kind != 0 }

// AfterMs returns the delay in milliseconds; it is 0 unless the kind is retryable_after_ms.
func (r Retry) AfterMs() int64 { return r.afterMs }

// After returns the delay as a duration; it is 0 unless the kind is retryable_after_ms.
func (r Retry) After() time.Duration { return time.Duration(r.afterMs) * time.Millisecond }

// String returns the kind and the delay, if any: "retryable_after_ms 2000".
func (r Retry) String() string {
	if r.kind == 2 {
		return fmt.Sprintf("%s %d", RetryAfterMs, r.afterMs)
	}
	return string(r.Kind())
}

// CheckSuggestion returns an error if text contradicts the retry advice, such as "try again" with not_retryable. The
// phrases are those of spec/contradictions.json. Constructors drop such text; call CheckSuggestion to get an error
// instead, as in a test of your messages.
func CheckSuggestion(r Retry, text string) error {
	if phrase, bad := contradicts(r, text); bad {
		return fmt.Errorf("suggestion says %q but retry is %s", phrase, r)
	}
	return nil
}

// contradicts returns the first phrase in text that contradicts the advice r: "try again" with not_retryable, "do not
// retry" with the others. It reads the text once and allocates nothing.
func contradicts(r Retry, text string) (phrase string, bad bool) {
	return contradiction.Find(string(r.Kind()), text)
}
