package fleetcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

// tailCommand has the flags of `candor fleet tail`.
type tailCommand struct {
	ledgercmd.Filter
	env    *term.Env
	cmd    *cobra.Command
	nodes  []string
	follow bool
	last   int
	all    bool
	json   bool

	skipped uint64
	shown   int
}

func newTail(env *term.Env) *cobra.Command {
	c := &tailCommand{env: env}
	cmd := &cobra.Command{
		Use:   "tail URL",
		Short: "Show the last entries of all nodes, and with -f new ones as they arrive",
		Long: `Show the last entries of all nodes in order of time: the node, then the line of candor ledger tail. With -f it waits for
new entries until it is interrupted, and shows them in the order in which they arrive. The entries that ledgers
write about themselves, settings and checkpoints, are shown only with --all or --kind.

With --json each line is an object with the node and the entry as it is stored.`,
		Example: `  candor fleet tail file:/srv/fleet -n 20
  candor fleet tail file:/srv/fleet -f --kind failure
  candor fleet tail file:/srv/fleet --node web-1 --code RATE_LIMITED --json`,
		Args: storeArg("tail"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	c.cmd = cmd
	c.Register(cmd)
	cmd.Flags().StringSliceVar(&c.nodes, "node", nil, "only entries of these nodes")
	cmd.Flags().BoolVarP(&c.follow, "follow", "f", false, "wait for new entries")
	cmd.Flags().IntVarP(&c.last, "lines", "n", 10, "number of entries; 0 for all")
	cmd.Flags().BoolVar(&c.all, "all", false, "also show settings and checkpoints")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object per entry")
	return cmd
}

func (c *tailCommand) run(ctx context.Context, url string) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.last < 0 {
		return term.BadInput("a number from 0", "-n %d: negative", c.last)
	}
	store, _, err := c.env.OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // it was only read
	var later iter.Seq2[fleet.Stored, error]
	if c.follow { // before the stored entries are read, so that none is missed between
		later = store.Follow(ctx)
	}
	chains, err := c.chains(ctx, store)
	if err != nil {
		return err
	}
	seen, keep, err := c.showStored(ctx, view.New(ctx, store, chains))
	if err == nil && c.follow {
		err = c.showLater(later, seen, keep)
	}
	if err != nil {
		return term.StoreError(err)
	}
	if c.skipped > 0 {
		c.env.Notify(c.cmd, term.Count(c.skipped, "invalid line was", "invalid lines were")+" skipped", "run candor fleet verify")
	}
	if c.shown == 0 && !c.json && !c.follow {
		c.env.Notify(c.cmd, "no entries to show", "candor fleet stats counts the failures of each node; --all also shows settings and checkpoints")
	}
	return nil
}

// chains lists the chains of the named nodes. With -f a node may appear later.
func (c *tailCommand) chains(ctx context.Context, store fleet.Store) (chains []fleet.Chain, err error) {
	names := c.nodes
	if c.follow {
		names = nil
	}
	nodes, err := chainsByNode(ctx, store, names)
	for _, list := range nodes {
		if c.wanted(list[0].Node) {
			chains = append(chains, list...)
		}
	}
	return chains, err
}

func (c *tailCommand) wanted(node string) bool {
	return len(c.nodes) == 0 || slices.Contains(c.nodes, node)
}

// showStored shows the last stored entries. It returns the number of the last entry of each chain, and the filter.
func (c *tailCommand) showStored(ctx context.Context, fsys *view.FS) (seen map[fleet.Chain]uint64, keep func(*ledger.Line) bool, err error) {
	r := ledger.NewReader(fsys)
	chosen, err := c.Keep(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	keep = func(l *ledger.Line) bool {
		return (c.all || c.ShowsInternal() || !ledgercmd.IsInternal(l.Kind)) && (chosen == nil || chosen(l))
	}
	seen = map[fleet.Chain]uint64{}
	options := ledger.ReadOptions{Last: c.last, Skipped: func(string, int64) { c.skipped++ }, Keep: func(l *ledger.Line) bool {
		name := l.Chain()
		seen[fleet.Chain{Node: fsys.Node(name), Name: name}] = l.Seq
		return keep(l)
	}}
	for line, err := range r.Entries(ctx, options) {
		if err != nil {
			return seen, keep, err
		}
		if err := c.write(fsys.Node(line.Chain()), line); err != nil {
			return seen, keep, err
		}
	}
	return seen, keep, nil
}

// showLater shows entries as they arrive. Those that were shown already arrive again if they were stored meanwhile.
func (c *tailCommand) showLater(later iter.Seq2[fleet.Stored, error], seen map[fleet.Chain]uint64, keep func(*ledger.Line) bool) error {
	for stored, err := range later {
		if err != nil {
			return err
		}
		if !c.wanted(stored.Chain.Node) {
			continue
		}
		line, err := ledger.ParseLine(stored.Line)
		if err != nil || !line.In(stored.Chain.Name) {
			c.skipped++
			continue
		}
		if line.Seq <= seen[stored.Chain] || !keep(&line) {
			continue
		}
		if err := c.write(stored.Chain.Node, &line); err != nil {
			return err
		}
	}
	return nil
}

func (c *tailCommand) write(node string, l *ledger.Line) error {
	if c.json {
		if !json.Valid(l.Raw()) {
			c.skipped++
			return nil
		}
		fmt.Fprintf(c.env.Out, "{\"node\":%q,\"entry\":%s}\n", node, l.Raw())
		c.shown++
		return c.env.Out.EndLine()
	}
	r, err := l.Record()
	if err != nil {
		c.skipped++
		return nil //nolint:nilerr // it is counted
	}
	p := c.env.Colors()
	fmt.Fprintf(c.env.Out, "%s  %s\n", p.Bold(term.Printable(node)), ledgercmd.EntryWords(&r, p))
	c.shown++
	return c.env.Out.EndLine()
}
