// Package democmd has candor demo.
package democmd

import (
	"syscall"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// options are the flags.
type options struct{ json, once, console bool }

// New returns `candor demo`.
func New(env *term.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what Candor does with a bad server",
		Long: `Start a deliberately bad MCP server and a gateway in front of it, let a scripted agent make good and bad
calls, and show the responses of the server alone and through the gateway. At the end the ledger is verified, one byte of
it is changed, and it is verified again. The demo needs no setup and removes all its files.

With --console the pages of candor console show the failures of the demo, live, until Ctrl-C; the ledger is not changed then.

With --json there is one line for each scene: scene, call, alone, through, code.`,
		Example: "  candor demo\n  candor demo --json | jq -r .code\n  candor demo --console",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := term.StopContext(cmd, syscall.SIGHUP) // remove the temporary folder even if the terminal is closed
			defer stop()
			err := demoStory(ctx, cmd, env, o)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // ended by Ctrl-C
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per line")
	cmd.Flags().BoolVar(&o.console, "console", false, "show the failures in the console, until Ctrl-C")
	cmd.Flags().BoolVar(&o.once, "once", false, "do not pause between the scenes")
	return cmd
}
