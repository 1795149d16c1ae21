package candor

import "time"

// Option sets one named part of an [Error]. It is a plain value rather than a closure so that
// building an error costs no allocation per option.
type Option struct {
	apply func(*Error, *Option)
	text  string
	data  any
	retry Retry
	at    time.Time
}

// WithMessage replaces the sentence.
func WithMessage(text string) Option {
	return Option{text: text, apply: func(e *Error, o *Option) { e.message = publicText(o.text, MaxMessage) }}
}

// WithRetry replaces the retry advice.
func WithRetry(r Retry) Option {
	return Option{retry: r, apply: func(e *Error, o *Option) { e.retry, e.retrySaid = o.retry, true }}
}

// WithSuggestion says what to do next. Text that contradicts the retry advice is refused: the
// catalogue's own advice stands in for it and [Error.Validate] reports it. See [CheckSuggestion].
func WithSuggestion(text string) Option {
	return Option{text: text, apply: func(e *Error, o *Option) { e.said = publicText(o.text, MaxSuggestion) }}
}

// WithDetails attaches any Go value as structured details. It is copied into safe, bounded JSON at
// once; the value itself is not kept and not changed.
func WithDetails(v any) Option {
	return Option{data: v, apply: func(e *Error, o *Option) { e.details = DetailsOf(o.data) }}
}

// WithIssues attaches validation issues as details.issues, keeping the other details.
func WithIssues(issues ...Issue) Option {
	return Option{data: issues, apply: func(e *Error, o *Option) {
		if list, ok := o.data.([]Issue); ok && len(list) > 0 {
			e.details = e.details.With("issues", list)
		}
	}}
}

// WithCause wraps err: errors.Is and errors.As see it, the peer sees its redacted copy. Of an err that errors.Is could not
// walk through without a panic or an end, such as a nil *fs.PathError, only the copy is kept.
func WithCause(err error) Option {
	return Option{data: err, apply: func(e *Error, o *Option) {
		if err, ok := o.data.(error); ok && err != nil {
			e.err, e.cause = nil, causeOf(err)
			if isPlain(err) || sound(err) {
				e.err = err
			}
		}
	}}
}

// WithCauseText attaches a cause that is not a Go error, such as one read from the wire.
func WithCauseText(c Cause) Option {
	return Option{data: c, apply: func(e *Error, o *Option) { e.cause = causeOf(o.data) }}
}

// WithOrigin says who failed, and whether that was said or inferred. A party outside the five changes nothing.
func WithOrigin(by Party, inferred bool) Option {
	return Option{data: Origin{By: by, Inferred: inferred}, apply: func(e *Error, o *Option) {
		if origin, ok := o.data.(Origin); ok && origin.By.Valid() {
			e.origin = origin
		}
	}}
}

// WithRef sets the correlation id.
func WithRef(ref string) Option {
	return Option{text: ref, apply: func(e *Error, o *Option) { e.ref = label(o.text) }}
}

// WithTime sets when it happened, kept in UTC to the millisecond.
func WithTime(at time.Time) Option {
	return Option{at: at, apply: func(e *Error, o *Option) { e.at = o.at.UTC().Truncate(time.Millisecond) }}
}

// WithStack attaches a stack made by [StackPolicy.Frames]; "" is none.
func WithStack(stack string) Option {
	return Option{text: stack, apply: func(e *Error, o *Option) { e.stack = fitText(o.text, MaxStack, MaxStack+len(`""`)) }}
}

// WithTool names the tool.
func WithTool(name string) Option {
	return Option{text: name, apply: func(e *Error, o *Option) { e.context.Tool = label(o.text) }}
}

// WithContext sets the whole context at once.
func WithContext(c Context) Option {
	return Option{data: c, apply: func(e *Error, o *Option) {
		if c, ok := o.data.(Context); ok {
			e.context = Context{
				Tool: label(c.Tool), Role: label(c.Role), SessionID: label(c.SessionID),
				WorkspaceRoot: cleanRoot(c.WorkspaceRoot), InvariantID: label(c.InvariantID),
				PhaseID: label(c.PhaseID), PlanHash: label(c.PlanHash),
			}
		}
	}}
}

// WithSession sets the session's id, role and workspace root.
func WithSession(id, role, root string) Option {
	return Option{data: [3]string{id, role, root}, apply: func(e *Error, o *Option) {
		if s, ok := o.data.([3]string); ok {
			e.context.SessionID, e.context.Role, e.context.WorkspaceRoot = label(s[0]), label(s[1]), cleanRoot(s[2])
		}
	}}
}

// WithInvariant names the invariant that was violated.
func WithInvariant(id string) Option {
	return Option{text: id, apply: func(e *Error, o *Option) { e.context.InvariantID = label(o.text) }}
}

// WithPhase names the phase the caller was in.
func WithPhase(id string) Option {
	return Option{text: id, apply: func(e *Error, o *Option) { e.context.PhaseID = label(o.text) }}
}

// WithPlan names the plan by its hash.
func WithPlan(hash string) Option {
	return Option{text: hash, apply: func(e *Error, o *Option) { e.context.PlanHash = label(o.text) }}
}

// Otherwise replaces INTERNAL_ERROR, the last resort of [From] and [FromUnknown], by a code that says more.
// It changes nothing when a more specific rule matched.
func Otherwise(code Code) Option {
	return Option{data: code, apply: func(e *Error, o *Option) {
		code, ok := o.data.(Code)
		if !ok || !code.Valid() || e.code != CodeInternalError {
			return
		}
		if e.message == e.code.Sentence() {
			e.message = code.Sentence()
		}
		e.code = code
		if !e.retrySaid {
			e.retry = code.Retry()
		}
	}}
}
