package main

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
	exitFine    = 0
	exitFound   = 1
	exitBad     = 2
	exitNoPipe  = 141
	programName = "candor"
)

// fault is an error that knows its exit code and its next step. One without text only carries the code.
type fault struct {
	code  int
	text  string
	hint  string
	cause error // what the text was made of, nil if nobody need know
}

// Error returns the text.
func (f *fault) Error() string { return f.text }

// Unwrap returns the cause.
func (f *fault) Unwrap() error { return f.cause }

// bad is a fault of input or usage.
func bad(hint, format string, args ...any) *fault {
	return &fault{code: exitBad, text: fmt.Sprintf(format, args...), hint: hint}
}

// found says that something was found which the caller asked to be told about.
func found() *fault { return &fault{code: exitFound} }

// unfinished is the fault of a server that has served and ended with work undone, unless err knows its code. nil stays nil.
func unfinished(err error) error {
	if f := (*fault)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	return &fault{code: exitFound, text: err.Error(), cause: err}
}

// unreadable says that some of the input could not be read; each piece has been complained about where it stood.
func unreadable() *fault { return &fault{code: exitBad} }

// unknown is the fault of a word outside a list: it names the list, and the word that was probably meant.
func unknown(kind, got string, list []string) *fault {
	hint := "one of " + strings.Join(list, ", ")
	if names := near.Typed(got, list); len(names) > 0 {
		hint = "did you mean " + names[0] + "? " + hint
	}
	return bad(hint, "unknown %s %q", kind, got)
}

// noFile is the fault of a file that cannot be opened or read.
func noFile(err error) *fault {
	return bad("check the name, or leave it out to read standard input", "%s", err)
}

// behind returns what lies behind an error of the ledger: an operator needs it, a peer would not get it.
func behind(err error) error {
	var e *candor.Error
	if errors.As(err, &e) && e.Unwrap() != nil {
		return e.Unwrap()
	}
	return err
}

// withoutHint is an error whose hint speaks of the environment, where a flag is at hand.
func withoutHint(err error) string {
	text, _, _ := strings.Cut(err.Error(), " (hint: ")
	return text
}
