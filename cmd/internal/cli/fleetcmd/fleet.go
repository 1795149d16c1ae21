// Package fleetcmd has the commands below candor fleet, which work on the shared record of many nodes.
package fleetcmd

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
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

// openStore opens the store at a URL.
func openStore(ctx context.Context, env *term.Env, text string) (fleet.Store, fleet.Location, error) {
	at, err := fleet.ParseLocation(text)
	if err != nil {
		reason, hint := term.SplitHint(err)
		if hint == "" {
			hint = "a URL such as file:/srv/fleet, nats://HOST:4222 or postgres://USER@HOST/DATABASE"
		}
		return nil, at, term.BadInput(hint, "%s", reason)
	}
	store, err := env.Engines.Open(ctx, at, fleet.OpenOptions{Getenv: env.Getenv, Log: slog.New(slog.NewTextHandler(env.Err, nil))})
	if errors.Is(err, fleet.ErrNoEngine) {
		return nil, at, term.BadInput("use candor-cluster, which has the same commands and all engines", "%s", err)
	}
	if err != nil {
		return nil, at, storeError(err)
	}
	return store, at, nil
}

// storeError returns the error for a store that cannot be used.
func storeError(err error) *term.Error {
	var own *term.Error
	if errors.As(err, &own) {
		return own
	}
	text, hint := term.SplitHint(errors.New(fleet.Reason(err)))
	if hint == "" {
		hint = "check the URL, the credentials and that the store is running"
	}
	return term.BadInput(hint, "%s", strings.TrimSpace(text))
}

// storeArg accepts the URL of a store as the only argument.
func storeArg(command string) cobra.PositionalArgs {
	return term.OneArg("URL of a store", "candor fleet "+command+" file:/srv/fleet")
}
