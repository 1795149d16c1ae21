package candor

import (
	"fmt"
	"time"
)

// NotRetryable builds an error that the same call cannot get past.
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

// ToolFailure builds an error that a tool raises itself.
func ToolFailure(code Code, tool, message string, options ...Option) *Error {
	return New(code, message, append([]Option{WithTool(tool)}, options...)...)
}

// InvariantViolation builds the error of a broken invariant, named by id. A cause given as an option is kept.
func InvariantViolation(id, message string, options ...Option) *Error {
	set := []Option{WithInvariant(id), WithOrigin(PartyServer, false)}
	return New(codeInvariantViolation, message, append(set, options...)...)
}

// StartupFailure builds an error that keeps a server from starting. There is no session yet, so it
// has no role, session or workspace, and its tool is "startup", whatever the options say.
func StartupFailure(code Code, message string, options ...Option) *Error {
	set := append([]Option{WithOrigin(PartyServer, false)}, options...)
	return New(code, message, append(set, WithTool("startup"), WithSession("", "", ""))...)
}

// Numbered builds an error from the number of the taxonomy, such as 2100. A number that is not registered is refused
// with an error that names the range it falls into, and nothing is built.
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
