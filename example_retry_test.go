package candor_test

import (
	"fmt"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/ratelimit"
)

// Retry advice has three kinds, and CheckSuggestion reports text that contradicts it.
func ExampleRetryableAfter() {
	err := candor.RetryableAfter(ratelimit.Exceeded, 1500*time.Millisecond, "",
		candor.WithSuggestion("Do not retry."))

	fmt.Println(err.Retry())
	fmt.Println(err.Retry().Retryable(), err.Retry().After())
	fmt.Println(err.Validate())
	fmt.Println(candor.CheckSuggestion(err.Retry(), err.Suggestion()))
	// Output:
	// retryable_after_ms 1500
	// true 1.5s
	// suggestion says "not retry" but retry is retryable_after_ms 1500
	// <nil>
}
