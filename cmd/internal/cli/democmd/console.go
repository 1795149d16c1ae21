package democmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/consolecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// demoConsole returns a story that is shown in the console too, from its first scene until Ctrl-C.
func demoConsole(cmd *cobra.Command) func(ctx context.Context, env *term.Env, asJSON, slowly bool) error {
	return func(ctx context.Context, env *term.Env, asJSON, slowly bool) (err error) {
		dir, err := os.MkdirTemp("", "candor-demo-")
		if err != nil {
			return fmt.Errorf("making a folder for the demo: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		self, err := os.Executable()
		if err != nil {
			return err
		}
		running, err := consolecmd.Start(ctx, env, consolecmd.Options{Dir: dir, Listen: consolecmd.DefaultListen, Temporary: true, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, running.Close(context.Background())) }()
		env.Notify(cmd, "console on "+running.Address(), "")
		if _, err := demoPlay(ctx, env, self, dir, asJSON, slowly); err != nil {
			return err
		}
		running.Verify()
		if !asJSON {
			fmt.Fprintf(env.Out, "\nThe failures are on %s until Ctrl-C.\n", running.Address())
		}
		if err := env.Out.Flush(); err != nil { // also to a file: the command does not end by itself
			return err
		}
		<-ctx.Done()
		return nil
	}
}
