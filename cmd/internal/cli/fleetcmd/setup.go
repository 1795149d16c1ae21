package fleetcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// setupCommand has the flags of `candor fleet setup`.
type setupCommand struct {
	env      *term.Env
	replicas int
	size     term.BytesFlag
	json     bool
}

func newSetup(env *term.Env) *cobra.Command {
	c := &setupCommand{env: env}
	cmd := &cobra.Command{
		Use:   "setup URL",
		Short: "Create what a store needs, such as a stream or tables",
		Long: `Create what a store needs, such as a stream or tables, and print how durable an acknowledged entry is. It changes
nothing that exists and is as it should be, so it can be run again. It needs the rights of an operator.

Exit codes: 0 done; 2 an error.`,
		Example: `  candor fleet setup file:/srv/fleet
  candor-cluster fleet setup 'nats://nats-1:4222?creds=operator.creds' --replicas 3`,
		Args: storeArg("setup"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().IntVar(&c.replicas, "replicas", 0, "copies of each entry; 0 for three, or one where there is only one machine")
	cmd.Flags().Var(&c.size, "max-bytes", "size at which the store refuses more entries, such as 500GiB; none by default")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

func (c *setupCommand) run(ctx context.Context, url string) error {
	if c.replicas < 0 {
		return term.BadInput("a number from 0", "--replicas %d: negative", c.replicas)
	}
	store, at, err := c.env.OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // nothing is pending
	if err := store.Setup(ctx, fleet.SetupOptions{Replicas: c.replicas, MaxBytes: int64(c.size)}); err != nil {
		return term.StoreError(err)
	}
	durable, err := store.Durability(ctx)
	if err != nil {
		return term.StoreError(err)
	}
	if c.json {
		return term.WriteJSONLine(c.env.Out, durable)
	}
	fmt.Fprintf(c.env.Out, "%s is ready\n", term.Printable(at.String()))
	fmt.Fprintln(c.env.Out, durabilityWords(durable))
	return nil
}

// durabilityWords says in one or two sentences what an acknowledgement means.
func durabilityWords(d fleet.Durability) string {
	synced := "not synced to disk"
	if d.Synced {
		synced = "synced to disk"
	}
	text := fmt.Sprintf("an acknowledged entry is on %s, %s", term.Count(uint64(max(d.Replicas, 0)), "machine", "machines"), synced) //nolint:gosec // not negative
	if d.Quorum {
		return text + "; ack=quorum is possible"
	}
	text += "; ack=quorum is refused"
	if d.Reason != "" {
		text += ": " + term.Printable(d.Reason)
	}
	if d.Change != "" {
		text += "\nto change that: " + term.Printable(d.Change)
	}
	return text
}
