package term

import (
	"errors"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/similar"
)

// Exit codes.
const (
	ExitOK    = 0
	ExitFound = 1 // a check found something, or a server ended with unfinished work
	ExitUsage = 2 // bad input or usage
	// ExitClosedPipe is the code that a shell shows for SIGPIPE: the reader of the output has closed it.
	ExitClosedPipe = 141
)

// ProgramName is the name of the root command.
const ProgramName = "candor"

// Error is an error with an exit code and a next step. Without a text nothing is printed.
type Error struct {
	Code  int
	Text  string
	Hint  string
	Cause error // for errors.Is and errors.As; may be nil
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// BadInput returns an error of input or usage.
func BadInput(hint, format string, args ...any) *Error {
	return &Error{Code: ExitUsage, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Found returns the error of a check that found something. The findings are already printed.
func Found() *Error { return &Error{Code: ExitFound} }

// AlreadyReported returns the error for input that could not be read. Each problem is already printed.
func AlreadyReported() *Error { return &Error{Code: ExitUsage} }

// Unfinished returns err with exit code 1, for errors of a server after it has started. nil and [*Error] are returned unchanged.
func Unfinished(err error) error {
	if e := (*Error)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{Code: ExitFound, Text: err.Error(), Cause: err}
}

// Unknown returns the error for a word that is not in a list. The hint has the list and the nearest word.
func Unknown(kind, got string, list []string) *Error {
	hint := "one of " + strings.Join(list, ", ")
	if names := similar.Typed(got, list); len(names) > 0 {
		hint = "did you mean " + names[0] + "? " + hint
	}
	return BadInput(hint, "unknown %s %q", kind, got)
}

// UnreadableFile returns the error for a file that cannot be opened or read.
func UnreadableFile(err error) *Error {
	return BadInput("check the name, or leave it out to read standard input", "%s", err)
}

// Cause returns the Go error that a [candor.Error] wraps, which may be shown to an operator but not to a peer; otherwise err.
func Cause(err error) error {
	var e *candor.Error
	if errors.As(err, &e) && e.Unwrap() != nil {
		return e.Unwrap()
	}
	return err
}

// SplitHint splits the text of an error that ends in "(hint: …)". The hint is "" if there is none.
func SplitHint(err error) (text, hint string) {
	text, hint, _ = strings.Cut(err.Error(), " (hint: ")
	return text, strings.TrimSuffix(hint, ")")
}

// TrimHint returns the text of an error without its "(hint: …)", for commands that have a better hint.
func TrimHint(err error) string {
	text, _ := SplitHint(err)
	return text
}

// ErrNeedsCluster means that candor-cluster can do what candor cannot. It is returned before a command has read or written anything, so
// that the command line can be given to candor-cluster unchanged.
var ErrNeedsCluster = errors.New("candor-cluster is needed")

// NeedsCluster returns the error for something that only candor-cluster can do, such as "writing Parquet".
func NeedsCluster(what string) *Error {
	return &Error{Code: ExitUsage, Text: what + " needs candor-cluster", Cause: ErrNeedsCluster}
}
