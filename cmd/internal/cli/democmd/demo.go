// Package democmd has candor demo.
package democmd

import (
	"syscall"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// New returns `candor demo`.
func New(env *term.Env) *cobra.Command {
	var asJSON, answers, once, console bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what Candor does with a bad server",
		Long: `Start a deliberately bad MCP server and a gateway in front of it, let a scripted agent make good and bad
calls, and show the responses of the server alone and through the gateway. At the end the ledger is verified, one byte of
it is changed, and it is verified again. The demo needs no setup and removes all its files.

With --answers no server is started: the command shows typical responses of servers, how Candor reads each, and one
error in every dialect.

With --console the pages of candor console show the failures of the demo, live, until Ctrl-C; the ledger is not changed then.

With --json there is one line for each scene: scene, call, alone, through, code.`,
		Example: "  candor demo\n  candor demo --json | jq -r .code\n  candor demo --answers\n  candor demo --console",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if answers && console {
				return term.BadInput("leave one of them out", "--answers and --console: cannot be combined")
			}
			if answers {
				return demoAnswers(env, asJSON)
			}
			ctx, stop := term.StopContext(cmd, syscall.SIGHUP) // remove the temporary folder even if the terminal is closed
			defer stop()
			slowly := env.Terminal && !once && !asJSON
			run := demoStory
			if console {
				run = demoConsole(cmd)
			}
			err := run(ctx, env, asJSON, slowly)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // ended by Ctrl-C
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	cmd.Flags().BoolVar(&answers, "answers", false, "show typical responses and how Candor reads them, without a server")
	cmd.Flags().BoolVar(&console, "console", false, "show the failures in the console, until Ctrl-C")
	cmd.Flags().BoolVar(&once, "once", false, "do not pause between the scenes")
	return cmd
}
