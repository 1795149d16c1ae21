package fleetcmd

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// pruneCommand has the flags of `candor fleet prune`.
type pruneCommand struct {
	verify    verifyCommand
	env       *term.Env
	cmd       *cobra.Command
	older     term.AgeFlag
	dry       bool
	yes, json bool
}

func newPrune(env *term.Env) *cobra.Command {
	c := &pruneCommand{env: env, verify: verifyCommand{env: env, noCheckpoint: true}}
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
	c.cmd, c.verify.cmd = cmd, cmd
	c.verify.register(cmd)
	cmd.Flags().Var(&c.older, "older-than", "remove only entries older than this, such as 8760h or 365d")
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "list what would be removed, and remove nothing")
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object; needs --yes to change anything")
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

// pruneReport is the output of `candor fleet prune --json`.
type pruneReport struct {
	Removed []removal     `json:"removed"`
	Entries uint64        `json:"entries"`
	Bytes   int64         `json:"bytes"`
	Done    bool          `json:"done"`
	Damage  []view.Damage `json:"damage"`
}

func (c *pruneCommand) run(ctx context.Context, url string) error {
	keys, err := c.verify.readNodeKeys()
	if err != nil {
		return err
	}
	store, at, err := c.env.OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // nothing is pending
	_, known, err := c.verify.known(at)
	if err != nil {
		return err
	}
	verified, err := view.Verify(ctx, store, view.Options{Keys: keys, Known: known})
	if err != nil {
		return term.StoreError(err)
	}
	report := &pruneReport{Removed: []removal{}, Damage: verified.Damage}
	if err := c.plan(ctx, store, &verified, report); err != nil {
		return term.StoreError(err)
	}
	if !c.json {
		c.list(report)
	}
	if len(report.Removed) > 0 && !c.dry {
		if err := c.confirmAndRemove(ctx, store, report); err != nil {
			return err
		}
	}
	if c.json {
		err = term.WriteJSONLine(c.env.Out, report)
	}
	if err == nil && len(report.Damage) > 0 {
		return term.Found()
	}
	return err
}

// plan finds what can be removed from the nodes that are not damaged.
func (c *pruneCommand) plan(ctx context.Context, store fleet.Store, verified *view.Report, report *pruneReport) error {
	cutoff := c.env.Now().Add(-time.Duration(c.older))
	for i := range verified.Nodes {
		n := &verified.Nodes[i]
		if !n.OK {
			continue
		}
		last := recorded(n.Pruned)
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

// recorded returns the last removed entry of each chain.
func recorded(list []ledgerverify.Pruned) map[string]uint64 {
	through := map[string]uint64{}
	for _, p := range list {
		through[p.Chain] = max(through[p.Chain], p.Seq)
	}
	return through
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

func (c *pruneCommand) list(r *pruneReport) {
	for _, d := range r.Damage {
		fmt.Fprintln(c.env.Out, damageWords(&d, c.env.Colors()))
	}
	if len(r.Damage) > 0 {
		c.env.Notify(c.cmd, "nothing is removed from a node that is damaged or incomplete", "run candor fleet verify")
	}
	for _, f := range r.Removed {
		fmt.Fprintf(c.env.Out, "%s  %s  %9s  %s\n", ledgercmd.LocalTime(f.Last), term.Count(f.Entries, "entry", "entries"), ledgercmd.SizeWords(f.Bytes), f.Chain)
	}
	if len(r.Removed) == 0 {
		fmt.Fprintln(c.env.Out, "Nothing to remove: the nodes have recorded no removal of entries that are in the store and old enough.")
		return
	}
	fmt.Fprintf(c.env.Out, "to remove: %s, %s\n", term.Count(r.Entries, "entry", "entries"), ledgercmd.SizeWords(r.Bytes))
}

func (c *pruneCommand) confirmAndRemove(ctx context.Context, store fleet.Store, report *pruneReport) error {
	confirmed, err := c.env.Confirm(c.cmd, c.yes, c.json, "candor fleet prune --yes", "Remove them? They cannot be restored.")
	if !confirmed {
		return err
	}
	for _, r := range report.Removed {
		if err := store.Remove(ctx, r.Chain, r.Through); err != nil {
			return term.StoreError(err)
		}
	}
	report.Done = true
	if !c.json {
		fmt.Fprintf(c.env.Out, "removed %s, %s\n", term.Count(report.Entries, "entry", "entries"), ledgercmd.SizeWords(report.Bytes))
	}
	return nil
}
