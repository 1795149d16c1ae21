// Package democmd has candor demo.
package democmd

import (
	"syscall"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

func New(env *term.Env) *cobra.Command {
	var asJSON, answers, once bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a bad server made honest, in one screen",
		Long: `Start a deliberately bad MCP server and a gateway in front of it, let a scripted agent make good and bad
calls, and show what the client gets from the server alone and through the gateway. At the end the ledger is verified,
one word of it is changed, and it is verified again. Nothing is set up and nothing is left behind.

With --answers no server is started: answers as they are met in the wild, what is read from each, and one error in
every dialect.

With --json there is a line for each scene: scene, call, alone, through, code.`,
		Example: "  candor demo\n  candor demo --json | jq -r .code\n  candor demo --answers",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if answers {
				return demoAnswers(env, asJSON)
			}
			ctx, stop := term.StopContext(cmd, syscall.SIGHUP) // a terminal that is closed must not leave the demo's folder behind
			defer stop()
			err := demoStory(ctx, env, asJSON, env.Terminal && !once && !asJSON)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // whoever presses Ctrl-C has seen enough, and knows why there is no more
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the same as JSON, one object per line")
	cmd.Flags().BoolVar(&answers, "answers", false, "show answers of servers and what is read from them, without a server")
	cmd.Flags().BoolVar(&once, "once", false, "do not pause between the scenes")
	return cmd
}
