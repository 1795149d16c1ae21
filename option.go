package candor

import "time"

// Option sets one part of an [Error]. It is a plain value without functions, so that neither an option nor a list of options needs
// an allocation.
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
	optionInvariant
	optionPhase
	optionPlan
	optionOtherwise
)

// apply sets the option's part of e. It is long because it is one switch with a case for each kind.
func (o *Option) apply(e *Error) {
	switch o.kind {
	case optionNone:
	case optionMessage:
		e.message = publicText(o.text, MaxMessage)
	case optionRetry:
		e.retry, e.retrySet = o.retry, true
	case optionSuggestion:
		e.asked = publicText(o.text, MaxSuggestion)
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
		e.stack = fitText(o.text, MaxStack, MaxStack+len(`""`))
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
	case optionInvariant:
		e.callInfo.InvariantID = label(o.text)
	case optionPhase:
		e.callInfo.PhaseID = label(o.text)
	case optionPlan:
		e.callInfo.PlanHash = label(o.text)
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

// WithSuggestion sets the suggestion, which says what to do next. Text that contradicts the retry advice is replaced by the
// catalogue's suggestion, and [Error.Validate] reports it. See [CheckSuggestion].
func WithSuggestion(text string) Option {
	return Option{kind: optionSuggestion, text: text}
}

// WithDetails attaches any Go value as structured details. The value is copied into safe, bounded JSON when the option is applied;
// it is neither kept nor changed.
func WithDetails(v any) Option {
	return Option{kind: optionDetails, data: v}
}

// WithIssues attaches validation issues as details.issues, keeping the other details.
func WithIssues(issues ...Issue) Option {
	return Option{kind: optionIssues, data: issues}
}

// WithCause wraps err: errors.Is and errors.As see it, and the peer sees its redacted copy. If errors.Is would panic on err or not
// return, as with a nil *fs.PathError, only the copy is kept.
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

// WithInvariant names the invariant that was violated.
func WithInvariant(id string) Option {
	return Option{kind: optionInvariant, text: id}
}

// WithPhase names the phase of the caller.
func WithPhase(id string) Option {
	return Option{kind: optionPhase, text: id}
}

// WithPlan names the plan by its hash.
func WithPlan(hash string) Option {
	return Option{kind: optionPlan, text: hash}
}

// Otherwise replaces INTERNAL_ERROR, to which [From] and [FromUnknown] fall back, by a more specific code. It changes nothing if
// they found another code.
func Otherwise(code Code) Option {
	return Option{kind: optionOtherwise, data: code}
}

// otherwise implements [Otherwise].
func (e *Error) otherwise(code Code) {
	if !code.Valid() || e.code != CodeInternalError {
		return
	}
	if e.message == e.code.Sentence() {
		e.message = code.Sentence()
	}
	e.code = code
	if !e.retrySet {
		e.retry = code.Retry()
	}
}
