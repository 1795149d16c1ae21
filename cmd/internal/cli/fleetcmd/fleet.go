// Package fleetcmd has the commands below candor fleet, which work on the shared record of many nodes.
package fleetcmd

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// New returns the command candor fleet.
func New(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Read and verify the shared record of many nodes",
		Long: `Read and verify the shared record of many nodes: a store to which each node ships the lines of its own ledger.
URL names the store: file:DIR, nats://HOST:4222/STREAM, tls://…, or postgres://USER@HOST/DATABASE. candor has the
engine for file:, candor-cluster has all of them. A password in the URL is refused: name a file of credentials.`,
		Example: `  candor fleet verify file:/srv/fleet
  candor fleet stats nats://nats-1:4222 --since 24h
  candor fleet tail nats://nats-1:4222 -f --kind failure
  candor fleet join web-1 nats://nats-1:4222`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newVerify(env), newCheckpoint(env), newStats(env), newTail(env), newPrune(env), newSetup(env), newJoin(env), newShip(env))
	return cmd
}

// storeArg accepts the URL of a store as the only argument.
func storeArg(command string) cobra.PositionalArgs {
	return term.OneArg("URL of a store", "candor fleet "+command+" file:/srv/fleet")
}
