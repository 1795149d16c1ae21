package candor

import (
	"fmt"
	"time"

	"github.com/candor-mcp/candor/internal/catalogue/contradiction"
)

// RetryKind is the wire spelling of a [Retry]. There are exactly three.
type RetryKind string

// The three kinds of retry advice.
const (
	RetryNever     RetryKind = "not_retryable"
	RetryImmediate RetryKind = "retryable_immediate"
	RetryAfterMs   RetryKind = "retryable_after_ms"
)

// MaxRetryAfter is the longest delay. Longer delays are reduced to it: no caller waits more than a week for a tool call, and a
// bounded number cannot overflow a client's timer.
const MaxRetryAfter = 7 * 24 * time.Hour

// Retry says whether the same call may be sent again, and when. Its fields are private, so that neither a fourth kind nor a delay
// on a kind without one can exist. The zero Retry is not_retryable.
type Retry struct {
	kind    uint8 // 0 never, 1 immediate, 2 after
	afterMs int64 // > 0 iff kind is 2
}

// NoRetry returns the advice not to repeat the call unchanged.
func NoRetry() Retry { return Retry{} }

// RetryNow returns the advice that the same call may be sent again at once.
func RetryNow() Retry { return Retry{kind: 1} }

// RetryIn returns the advice to wait for d, rounded up to a whole millisecond and limited to [MaxRetryAfter]. A delay of zero or
// less gives [RetryNow].
func RetryIn(d time.Duration) Retry {
	if d <= 0 {
		return RetryNow()
	}
	d = min(d, MaxRetryAfter)
	return Retry{kind: 2, afterMs: int64((d + time.Millisecond - 1) / time.Millisecond)}
}

// ParseRetry reads the wire form. It returns an error for a kind outside the closed set, a missing or non-positive delay on
// retryable_after_ms, and a delay on the other two. A delay longer than [MaxRetryAfter] is reduced to it.
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
		return RetryIn(time.Duration(min(*afterMs, MaxRetryAfter.Milliseconds())) * time.Millisecond), nil
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

// CheckSuggestion returns an error if text contradicts the retry advice, such as "try again" with not_retryable. The phrases are
// those of spec/contradictions.json. Constructors drop such text; call CheckSuggestion to get an error instead, as in a test of
// your messages.
func CheckSuggestion(r Retry, text string) error {
	if phrase, bad := contradicts(r, text); bad {
		return fmt.Errorf("suggestion says %q but retry is %s", phrase, r)
	}
	return nil
}

// contradicts returns the first phrase in text that contradicts the advice r: "try again" with not_retryable, "do not retry" with
// the others. It reads the text once and allocates nothing.
func contradicts(r Retry, text string) (phrase string, bad bool) {
	return contradiction.Contract.Find(ruleFor(r), text)
}

func ruleFor(r Retry) *contradiction.Rule {
	switch r.kind {
	case 1:
		return &contradiction.Contract.Immediate
	case 2:
		return &contradiction.Contract.After
	default:
		return &contradiction.Contract.Never
	}
}
