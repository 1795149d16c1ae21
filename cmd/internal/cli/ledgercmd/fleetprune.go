package ledgercmd

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
)

// fleetPruneCommand has the flags of `candor fleet prune`.
type fleetPruneCommand struct {
	command
	trustFlags
	older term.AgeFlag
	dry   bool
}

func newFleetPrune(shared command) *cobra.Command {
	c := &fleetPruneCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "prune URL",
		Short: "Remove entries from a store that the nodes have removed from their own ledgers",
		Long: `Remove entries from a store that the nodes have removed from their own ledgers. A node records what its retention has
removed (--ledger-keep-age and --ledger-keep-bytes of a server, or candor ledger prune) in a signed entry; nothing
else is removed here, so the store still verifies, and one node cannot cause the removal of another's entries.
--older-than keeps entries longer in the store than on the nodes. Only whole segments are removed, and the last entry of a chain stays.

The command first verifies the store, and removes nothing from a node that is damaged or incomplete. It lists what it would remove
and asks. It needs the rights of an operator.

Exit codes: 0 done, or nothing to do; 1 a node is damaged; 2 an error, or --yes is missing where the command cannot
ask. With --json it does not ask: the exit code is 0, and done is false.`,
		Example: `  candor fleet prune file:/srv/fleet --dry-run
  candor fleet prune file:/srv/fleet --older-than 365d --yes`,
		Args: storeArg("prune"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	c.trustFlags.register(cmd)
	cmd.Flags().Var(&c.older, "older-than", "remove only entries older than this, such as 8760h or 365d")
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "list what would be removed, and remove nothing")
	c.registerYes(cmd)
	return cmd
}

// removal is what is removed from one chain.
type removal struct {
	fleet.Chain
	Through uint64    `json:"through"` // number of the last removed entry
	Entries uint64    `json:"entries"`
	Bytes   int64     `json:"bytes"`
	Last    time.Time `json:"last"` // time of the last removed entry
}

// fleetPruneReport is the output of `candor fleet prune --json`.
type fleetPruneReport struct {
	Removed []removal     `json:"removed"`
	Entries uint64        `json:"entries"`
	Bytes   int64         `json:"bytes"`
	Done    bool          `json:"done"`
	Damage  []view.Damage `json:"damage"`
}

func (c *fleetPruneCommand) run(ctx context.Context, url string) error {
	keys, err := c.readNodeKeys()
	if err != nil {
		return err
	}
	store, at, err := c.env.OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // nothing is pending
	_, known, err := c.known(c.env, at)
	if err != nil {
		return err
	}
	verified, err := view.Verify(ctx, store, view.Options{Keys: keys, Known: known})
	if err != nil {
		return term.StoreError(err)
	}
	report := &fleetPruneReport{Removed: []removal{}, Damage: verified.Damage}
	if err := c.plan(ctx, store, &verified, report); err != nil {
		return term.StoreError(err)
	}
	c.list(report)
	if len(report.Removed) > 0 && !c.dry {
		confirmed, err := c.confirm("Remove them? They cannot be restored.")
		if confirmed {
			err = c.remove(ctx, store, report)
		}
		if err != nil {
			return err
		}
	}
	return c.finish(report, len(report.Damage) == 0)
}

// plan finds what can be removed from the nodes that are not damaged.
func (c *fleetPruneCommand) plan(ctx context.Context, store fleet.Store, verified *view.Report, report *fleetPruneReport) error {
	cutoff := c.env.Now().Add(-time.Duration(c.older))
	for i := range verified.Nodes {
		n := &verified.Nodes[i]
		if !n.OK {
			continue
		}
		last := map[string]uint64{} // removed entry, by chain
		for _, p := range n.Pruned {
			last[p.Chain] = max(last[p.Chain], p.Seq)
		}
		for _, chain := range slices.Sorted(maps.Keys(last)) {
			r, err := removable(ctx, store, fleet.Chain{Node: n.Node, Name: chain}, last[chain], cutoff)
			if err != nil {
				return err
			}
			if r.Entries > 0 {
				report.Removed = append(report.Removed, r)
				report.Entries += r.Entries
				report.Bytes += r.Bytes
			}
		}
	}
	return nil
}

// removable returns the entries of a chain up to a number that are older than cutoff, as far as whole segments: only the first entry of a
// segment holds the tree that the verification continues with. The last entry of a chain stays, so that the node sees that the store had
// all of them.
func removable(ctx context.Context, store fleet.Store, chain fleet.Chain, through uint64, cutoff time.Time) (removal, error) {
	found, read, before := removal{Chain: chain}, removal{Chain: chain}, removal{Chain: chain}
	for stored, err := range store.Lines(ctx, chain, 0) {
		if err != nil {
			return found, err
		}
		line, err := ledger.ParseLine(stored.Line)
		if err != nil {
			return found, fmt.Errorf("chain %s changed since it was verified", chain)
		}
		if read.Entries > 0 && line.Kind == ledger.KindCheckpoint && bytes.Contains(stored.Line, []byte(`"tree":`)) && !line.Time.After(cutoff) {
			found = read // a segment begins here
		}
		if line.Seq > through {
			return found, nil
		}
		before = read
		read.Through, read.Last = line.Seq, line.Time
		read.Entries++
		read.Bytes += int64(len(stored.Line)) + 1
	}
	if read.Through == through && !read.Last.After(cutoff) {
		found = before // the whole chain
	}
	return found, nil
}

func (c *fleetPruneCommand) list(r *fleetPruneReport) {
	for _, d := range r.Damage {
		c.say("%s\n", damageLines(d, c.env.Colors()))
	}
	if len(r.Damage) > 0 && !c.json {
		c.env.Notify(c.cmd, "nothing is removed from a node that is damaged or incomplete", "run candor fleet verify")
	}
	for _, f := range r.Removed {
		c.say("%s  %s  %9s  %s\n", LocalTime(f.Last), plural.Count(f.Entries, "entry", "entries"), sizeWords(f.Bytes), f.Chain)
	}
	if len(r.Removed) == 0 {
		c.say("Nothing to remove: the nodes have recorded no removal of entries that are in the store and old enough.\n")
		return
	}
	c.say("to remove: %s, %s\n", plural.Count(r.Entries, "entry", "entries"), sizeWords(r.Bytes))
}

func (c *fleetPruneCommand) remove(ctx context.Context, store fleet.Store, report *fleetPruneReport) error {
	for _, r := range report.Removed {
		if err := store.Remove(ctx, r.Chain, r.Through); err != nil {
			return term.StoreError(err)
		}
	}
	report.Done = true
	c.say("removed %s, %s\n", plural.Count(report.Entries, "entry", "entries"), sizeWords(report.Bytes))
	return nil
}
