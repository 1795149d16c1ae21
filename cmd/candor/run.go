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
	"syscall"

	"github.com/spf13/cobra"
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
		w.report(cmd, f)
	}
	return f.code
}
