package term

import (
	"errors"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/near"
)

// The exit codes. A reader that closed the pipe ends us as it ends any other program: by SIGPIPE, or where there is none,
// with the code a shell shows for it.
const (
	ExitFine    = 0
	ExitFound   = 1
	ExitBad     = 2
	ExitNoPipe  = 141
	ProgramName = "candor"
)

// Error is an error that knows its exit code and its next step. One without text only carries the code.
type Error struct {
	Code  int
	Text  string
	Hint  string
	Cause error // what the text was made of, nil if nobody need know
}

// Error returns the text.
func (f *Error) Error() string { return f.Text }

// Unwrap returns the cause.
func (f *Error) Unwrap() error { return f.Cause }

// BadInput is a fault of input or usage.
func BadInput(hint, format string, args ...any) *Error {
	return &Error{Code: ExitBad, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Found says that something was found which the caller asked to be told about.
func Found() *Error { return &Error{Code: ExitFound} }

// Unfinished is the fault of a server that has served and ended with work undone, unless err knows its code. nil stays nil.
func Unfinished(err error) error {
	if f := (*Error)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	return &Error{Code: ExitFound, Text: err.Error(), Cause: err}
}

// Unreadable says that some of the input could not be read; each piece has been complained about where it stood.
func Unreadable() *Error { return &Error{Code: ExitBad} }

// Unknown is the fault of a word outside a list: it names the list, and the word that was probably meant.
func Unknown(kind, got string, list []string) *Error {
	hint := "one of " + strings.Join(list, ", ")
	if names := near.Typed(got, list); len(names) > 0 {
		hint = "did you mean " + names[0] + "? " + hint
	}
	return BadInput(hint, "unknown %s %q", kind, got)
}

// UnreadableFile is the fault of a file that cannot be opened or read.
func UnreadableFile(err error) *Error {
	return BadInput("check the name, or leave it out to read standard input", "%s", err)
}

// Cause returns what lies behind an error of the ledger: an operator needs it, a peer would not get it.
func Cause(err error) error {
	var e *candor.Error
	if errors.As(err, &e) && e.Unwrap() != nil {
		return e.Unwrap()
	}
	return err
}

// TrimHint is an error whose hint speaks of the environment, where a flag is at hand.
func TrimHint(err error) string {
	text, _, _ := strings.Cut(err.Error(), " (hint: ")
	return text
}
