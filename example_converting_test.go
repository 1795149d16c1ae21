package candor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/candor-mcp/candor"
)

// Any Go error can be converted. Known errors get a matching code, codes that an error carries are kept, and the text of
// an unknown error never becomes the message.
func ExampleFrom() {
	for _, err := range []error{
		fmt.Errorf("loading the plan: %w", fs.ErrNotExist),
		fmt.Errorf("asking the model: %w", context.DeadlineExceeded),
		errors.New("[PLAN_NOT_APPROVED] the plan waits for approval"),
		errors.New("sprocket 7 broke"),
		candor.New(candor.CodeDiskFull, ""), // an *Error is returned unchanged
	} {
		fmt.Println(candor.From(err))
	}
	fmt.Println(candor.From(nil) == nil)
	// Output:
	// FILE_NOT_FOUND: The file does not exist.
	// TIMEOUT: No answer came in time.
	// PLAN_NOT_APPROVED: the plan waits for approval
	// INTERNAL_ERROR: An unexpected error occurred.
	// DISK_FULL: There is no space left to store the data.
	// true
}
