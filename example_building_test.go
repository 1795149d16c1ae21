package candor_test

import (
	"errors"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// A tool reports a failure with a registered code and the details that the caller needs. Other fields come from the
// catalogue, and secrets are redacted.
func Example_building() {
	cause := errors.New("login to db failed: password=correct-horse-battery")

	err := candor.ToolFailure(kaiza.FileNotFound, "read_file", "There is no notes.txt.",
		candor.WithDetails(map[string]any{"path": "notes.txt"}),
		candor.WithCause(cause))

	fmt.Println(err)
	fmt.Println("class:  ", err.Class())
	fmt.Println("retry:  ", err.Retry())
	fmt.Println("do:     ", err.Suggestion())
	fmt.Println("details:", err.Details())
	fmt.Println("cause:  ", err.Cause().Message)
	fmt.Println("wraps:  ", errors.Is(err, cause))
	// Output:
	// FILE_NOT_FOUND: There is no notes.txt.
	// class:   not_found
	// retry:   not_retryable
	// do:      List the folder and name a file that exists.
	// details: {"path":"notes.txt"}
	// cause:   login to db failed: password=[redacted:password]
	// wraps:   true
}
