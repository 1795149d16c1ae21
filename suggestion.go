package candor

import "fmt"

// CheckSuggestion reports whether text would contradict the retry advice, such as "try again" beside not_retryable.
// The phrases are those of spec/contradictions.json. Constructors drop such text; call this where you would
// rather fail, as in a test over your own messages.
func CheckSuggestion(r Retry, text string) error {
	if phrase, bad := contradicts(r, text); bad {
		return fmt.Errorf("suggestion says %q but retry is %s", phrase, r)
	}
	return nil
}
