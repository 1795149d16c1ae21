// Package cli is the candor command: [Run] executes one command line. The packages below it hold one group of commands each.
//
// Rules for all of them:
//
//   - Results go to standard output; everything else goes to standard error and begins with the path of the command.
//   - Exit codes: 0 success, 1 something was found that the caller asked about, 2 bad input or usage.
//   - Commands contain no rules about errors: package contract classifies messages, package dialect encodes them.
//   - Clock, environment and streams come from [term.Env], so that a test can replace them.
package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/decodecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/oserror"
)

// Run executes one command line and returns its exit code.
func Run(env *term.Env, args []string) int {
	defer env.Close()
	root := newRoot(env)
	root.SetArgs(decodecmd.NegativeNumberLast(args))
	cmd, err := root.ExecuteC()
	if flushed := env.Out.Flush(); flushed != nil && err == nil {
		err = fmt.Errorf("writing the output: %w", flushed)
	}
	if needsCluster(err) {
		term.Release()
		var code int
		if code, err = runCluster(context.Background(), err, args); err == nil {
			return code
		}
	}
	return exitCode(env, cmd, err)
}

// exitCode prints an error with its next step and returns its exit code.
func exitCode(env *term.Env, cmd *cobra.Command, err error) int {
	if err == nil {
		return term.ExitOK
	}
	if oserror.IsClosedPipe(err) {
		return term.ExitClosedPipe
	}
	var e *term.Error
	if !errors.As(err, &e) {
		e = &term.Error{Code: term.ExitUsage, Text: err.Error(), Hint: "see " + cmd.CommandPath() + " --help"}
	}
	if e.Text != "" {
		env.Report(cmd, e)
	}
	return e.Code
}
