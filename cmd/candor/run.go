package main

// Rules of this folder:
//
//   - Results go to standard output; everything else goes to standard error and begins with the program's name.
//   - Exit codes: 0 fine, 1 something was found and the caller asked to be told so, 2 bad input or usage.
//   - No rule about errors stands here. What a message means is asked of contract, how it is written of dialect.
//   - Clock, environment and streams come from [world], so that a test can hold them.

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
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

// run executes one command line and returns its exit code.
func run(w *world, args []string) int {
	defer w.close()
	root := newRoot(w)
	root.SetArgs(shieldNumbers(args))
	cmd, err := root.ExecuteC()
	if flushed := w.out.Flush(); flushed != nil && err == nil {
		err = fmt.Errorf("writing the output: %w", flushed)
	}
	return ending(w, cmd, err)
}

// ending writes an error with its next step, once, and returns the exit code that belongs to it.
func ending(w *world, cmd *cobra.Command, err error) int {
	if err == nil {
		return exitFine
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitNoPipe
	}
	var f *fault
	if !errors.As(err, &f) {
		f = &fault{code: exitBad, text: err.Error(), hint: "see " + cmd.CommandPath() + " --help"}
	}
	if f.text != "" {
		complain(w, cmd, f)
	}
	return f.code
}

// complain is the one way in which words get to standard error.
func complain(w *world, cmd *cobra.Command, f *fault) {
	fmt.Fprintf(w.err, "%s: %s\n", cmd.CommandPath(), f.text)
	if f.hint != "" {
		fmt.Fprintf(w.err, "hint: %s\n", f.hint)
	}
}

// shieldNumbers lets `explain -32602` through: a number below zero is no flag. The sign is replaced by the minus that a
// typesetter would use, which explain reads like the other.
func shieldNumbers(args []string) []string {
	out := append([]string(nil), args...)
	asked := false
	for i, arg := range out {
		if arg == "--" {
			break
		}
		if asked && isNegative(arg) {
			out[i] = minusSign + arg[1:]
		}
		asked = asked || arg == "explain"
	}
	return out
}

const minusSign = "\u2212"

func isNegative(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "0123456789") == ""
}
