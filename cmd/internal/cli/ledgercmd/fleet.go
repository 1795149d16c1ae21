package ledgercmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/plural"
)

// NewFleet returns the command candor fleet.
func NewFleet(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Set up the shared record of many nodes, and ship to it",
		Long: `Set up the shared record of many nodes: a store to which each node ships the lines of its own ledger. candor ledger
verify, tail, show, stats, export, copy and prune take its URL.

URL names the store: file:DIR, nats://HOST:4222/STREAM, tls://…, or postgres://USER@HOST/DATABASE. candor has the
engine for file:, candor-cluster has all of them. A password in the URL is refused: name a file of credentials.`,
		Example: `  candor ledger verify file:/srv/fleet
  candor ledger stats nats://nats-1:4222 --since 24h
  candor ledger tail nats://nats-1:4222 -f --kind failure
  candor fleet join web-1 nats://nats-1:4222`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c := command{env: env, dir: new(string)}
	cmd.AddCommand(newFleetSetup(c), newFleetJoin(c), newFleetShip(c))
	return cmd
}

// storeArg accepts the URL of a store as the only argument.
func storeArg(command string) cobra.PositionalArgs {
	return term.OneArg("URL of a store", "candor fleet "+command+" file:/srv/fleet")
}

// twoArgs accepts exactly two arguments.
func twoArgs(what, example string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return term.BadInput(example, "give %s, not %d arguments", what, len(args))
		}
		return nil
	}
}

// checkNode refuses a text that is not the name of a node.
func checkNode(name, prefix string) error {
	if !fleet.ValidNode(name) {
		return term.BadInput("up to 64 letters, digits, hyphens and underscores, such as web-1", "%s%q: not the name of a node", prefix, name)
	}
	return nil
}

func newFleetJoin(c command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "join NODE URL",
		Short: "Print the least rights that a node needs",
		Long: `Print the least rights that a node needs to append to its own chains, as text for the configuration of the store.
A node with these rights cannot change or remove entries, and cannot append to the chains of other nodes.

Exit codes: 0 printed; 2 the store is not known.`,
		Example: `  candor-cluster fleet join web-1 nats://nats-1:4222`,
		Args:    twoArgs("the name of a node and the URL of a store", "candor fleet join web-1 nats://HOST:4222"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.join(cmd.Context(), args[0], args[1]) },
	}
	c.registerJSON(cmd, oneObject)
	return cmd
}

// joinReport is the output of `candor fleet join --json`.
type joinReport struct {
	Node  string `json:"node"`
	Grant string `json:"grant"`
}

func (c *command) join(ctx context.Context, node, url string) error {
	if err := checkNode(node, ""); err != nil {
		return err
	}
	store, _, err := c.env.OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // nothing is pending
	grant, err := store.Grant(node)
	if err != nil {
		return term.StoreError(err)
	}
	c.say("%s", grant)
	return c.finish(joinReport{Node: node, Grant: grant}, true)
}

// setupCommand has the flags of `candor fleet setup`.
type setupCommand struct {
	command
	replicas int
	size     term.BytesFlag
}

func newFleetSetup(shared command) *cobra.Command {
	c := &setupCommand{command: shared}
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
	c.registerJSON(cmd, oneObject)
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
	c.say("%s is ready\n%s\n", term.Printable(at.String()), durabilityWords(durable))
	return c.finish(durable, true)
}

// durabilityWords describes in one or two sentences what an acknowledgement means.
func durabilityWords(d fleet.Durability) string {
	synced := "not synced to disk"
	if d.Synced {
		synced = "synced to disk"
	}
	text := fmt.Sprintf("an acknowledged entry is on %s, %s", plural.Of(max(d.Replicas, 0), "machine"), synced)
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
