package kaiza_test

import (
	"errors"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

func Example() {
	err := candor.ToolFailure(kaiza.FileNotFound, "read_file", "notes.txt does not exist.")
	fmt.Println(err)
	fmt.Println(err.Code(), err.Class(), err.Retry())
	// Output:
	// FILE_NOT_FOUND: notes.txt does not exist.
	// kaiza/FILE_NOT_FOUND not_found not_retryable
}

// Codes are comparable: act on one with ==, in a switch or as a map key.
func Example_compare() {
	var err error = candor.New(kaiza.SessionLocked, "")
	err = errors.Join(errors.New("reading the plan"), err)
	switch candor.CodeOf(err) {
	case kaiza.SessionLocked:
		fmt.Println("the session is locked")
	default:
		fmt.Println("something else")
	}
	// Output: the session is locked
}
