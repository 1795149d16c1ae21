package ledgercmd

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// pruneCommand has the flags of `candor ledger prune`.
type pruneCommand struct {
	command
	trustFlags
	keep       service.KeepFlags
	dry, force bool
}

func newPrune(shared command) *cobra.Command {
	c := &pruneCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "prune [DIR|URL]",
		Short: "Remove old entries; the rest of the ledger still verifies",
		Long: `Remove old files of entries (segments) now, as --ledger-keep-age and --ledger-keep-bytes of a server do while it
runs: the oldest first, those not written for --keep-age, and those that make the total larger than --keep-bytes.
Only whole segments are removed: closed ones, and the last one of a chain after its writer has exited.
Checkpoints are kept, and a signed entry records what was removed, so that candor ledger verify reports OK
afterwards and does not mistake it for damage. A limit of 0 keeps nothing. In the flags of servers 0 means no limit.

From the store of a fleet it removes the segments that the nodes have recorded as removed from their own ledgers, and
nothing else, so one node cannot cause the removal of another's entries; --keep-age keeps them longer than on the
nodes. The last entry of a chain stays. It needs the rights of an operator.

The command can be used while other processes write the ledger; the segments that they write are kept. It first
verifies the ledger: segments of a damaged chain are evidence and are removed only with --force, and nothing is removed
from a node that is damaged or incomplete. It lists what it would remove and asks.

Exit codes: 0 done, or nothing to do; 1 segments of a damaged chain would be removed, or a node is damaged; 2 an error,
or --yes is missing where the command cannot ask. With --json it does not ask: the exit code is 0, and done is false.`,
		Example: `  candor ledger prune ./ledger --keep-age 30d --dry-run
  candor ledger prune ./ledger --keep-age 30d --keep-bytes 2GiB
  candor ledger prune file:/srv/fleet --keep-age 365d --yes --json`,
		Args: term.MaxArgs(1, "candor ledger prune DIR --keep-age 30d"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := cmd.Flags()
	flags.Var((*term.AgeFlag)(&c.keep.Age), "keep-age", "remove segments older than this, such as 720h or 30d; default $"+ledgerconfig.EnvKeepAge)
	flags.Var((*term.BytesFlag)(&c.keep.Bytes), "keep-bytes",
		"remove the oldest segments above this total size, such as 500MB or 2GiB; default $"+ledgerconfig.EnvKeepBytes)
	c.keep.RegisterCheckpoints(cmd)
	flags.BoolVar(&c.dry, "dry-run", false, "list what would be removed, and remove nothing")
	flags.BoolVar(&c.force, "force", false, "also remove segments of damaged chains, which are evidence")
	c.register(cmd)
	c.registerYes(cmd)
	return cmd
}

// pruneReport is the output of `candor ledger prune --json`.
type pruneReport struct {
	Removed      []removal     `json:"removed"`
	RemovedBytes int64         `json:"removed_bytes"`
	*kept                      // of a folder
	Done         bool          `json:"done"`
	Damage       []view.Damage `json:"damage"` // of the chains with segments to remove, or of the nodes
}

// kept is what stays in a folder.
type kept struct {
	Segments int   `json:"kept_segments"`
	Bytes    int64 `json:"kept_bytes"`
}

// removal is a segment of a folder, or what is removed from one chain of a store.
type removal struct {
	Node    string    `json:"node,omitempty"`
	Chain   string    `json:"chain"`
	File    string    `json:"file,omitempty"`
	Through uint64    `json:"through,omitempty"` // number of the last removed entry
	Entries uint64    `json:"entries,omitempty"`
	Bytes   int64     `json:"bytes"`
	Last    time.Time `json:"last_write"`
}

// pruning is what a command can remove.
type pruning struct {
	pruneReport
	nothing string       // why there is nothing to remove
	blocked bool         // because of damage
	hint    [2]string    // about the damage, and the next step
	remove  func() error // removes it, and updates the report
}

func (c *pruneCommand) run(args []string) error {
	p := &pruning{pruneReport: pruneReport{Removed: []removal{}, Damage: []view.Damage{}}}
	url, err := c.named(args)
	if err == nil && fleet.IsLocation(url) {
		closeStore, planErr := c.planStore(p, url)
		defer closeStore()
		err = planErr
	} else {
		err = c.planFolder(p, args)
	}
	if err != nil {
		return err
	}
	c.list(p)
	if len(p.Removed) > 0 && !p.blocked && !c.dry {
		confirmed, err := c.confirm("Remove them? They cannot be restored.")
		if confirmed {
			err = p.remove()
		}
		if err != nil {
			return err
		}
		if p.Done = confirmed; confirmed {
			c.say("removed %s\n", p.sizes())
		}
	}
	return c.finish(p.pruneReport, len(p.Damage) == 0 || c.force)
}

// planFolder finds what can be removed from a folder, and the damage in its chains.
func (c *pruneCommand) planFolder(p *pruning, args []string) error {
	if err := c.refuse("a folder has none", "operator-key"); err != nil {
		return err
	}
	dir, err := c.folder(args)
	if err != nil {
		return err
	}
	options, err := c.options(dir)
	if err != nil {
		return err
	}
	plan, err := ledger.Prunable(dir, options)
	if err != nil {
		return cannotPrune(err)
	}
	p.set(plan)
	p.hint = [2]string{"segments of a damaged chain are evidence; nothing was removed", "copy the folder to another place, then use --force"}
	p.remove = func() error {
		done, err := ledger.Prune(c.cmd.Context(), dir, options)
		if err != nil {
			return cannotPrune(err)
		}
		p.set(done)
		return nil
	}
	if len(p.Removed) == 0 {
		p.nothing = fmt.Sprintf("%s, %s within the limits", plural.Of(p.kept.Segments, "segment"), sizeWords(p.kept.Bytes))
		return nil
	}
	trusted, err := c.optionsOf(&c.command, dir)
	if err != nil {
		return err
	}
	verified, err := ledgerverify.Dir(c.cmd.Context(), dir, trusted)
	if err != nil {
		return cannotRead(err)
	}
	for _, d := range verified.Damage {
		if slices.ContainsFunc(p.Removed, func(r removal) bool { return r.Chain == d.Chain }) {
			p.Damage = append(p.Damage, view.Damage{Damage: d})
		}
	}
	p.blocked = len(p.Damage) > 0 && !c.force
	return nil
}

// options returns the limits. 0 keeps nothing, as opposed to a limit that is not set.
func (c *pruneCommand) options(dir string) (ledger.Options, error) {
	if c.cmd.Flags().Changed("keep-age") {
		c.keep.Age = max(c.keep.Age, time.Nanosecond)
	}
	if c.cmd.Flags().Changed("keep-bytes") {
		c.keep.Bytes = max(c.keep.Bytes, 1)
	}
	o, err := c.keep.Options(dir, "prune", c.env.Getenv, slog.New(slog.NewTextHandler(c.env.Err, nil)))
	if err == nil && o.RetainAge == 0 && o.RetainBytes == 0 {
		err = term.BadInput("candor ledger prune --keep-age 30d, or --keep-bytes 2GiB", "no limit: name what to keep")
	}
	return o, err
}

func cannotPrune(err error) *term.Error {
	if errors.Is(err, ledgerverify.ErrNoLedger) {
		return cannotRead(ledgerverify.ErrNoLedger)
	}
	return term.BadInput("check that the folder can be written, and run candor ledger verify", "pruning: %s", term.Cause(err))
}

// set sets the segments of a folder that can be removed, or were.
func (r *pruneReport) set(p ledger.Pruning) {
	r.Removed, r.RemovedBytes, r.kept = []removal{}, 0, &kept{p.KeptFiles, p.KeptBytes}
	for _, f := range p.Removed {
		r.add(removal{Chain: f.Chain, File: f.File, Bytes: f.Bytes, Last: f.Last})
	}
}

func (r *pruneReport) add(one removal) {
	r.Removed = append(r.Removed, one)
	r.RemovedBytes += one.Bytes
}

// sizes describes how much is removed and kept.
func (r *pruneReport) sizes() string {
	if r.kept != nil {
		return fmt.Sprintf("%s, %s; %s, %s kept", plural.Of(len(r.Removed), "segment"), sizeWords(r.RemovedBytes),
			plural.Of(r.kept.Segments, "segment"), sizeWords(r.kept.Bytes))
	}
	entries := uint64(0)
	for _, f := range r.Removed {
		entries += f.Entries
	}
	return fmt.Sprintf("%s, %s", plural.Count(entries, "entry", "entries"), sizeWords(r.RemovedBytes))
}

func (c *pruneCommand) list(p *pruning) {
	for _, f := range p.Removed {
		place := f.File
		if f.Node != "" {
			place = fmt.Sprintf("%s/%s, %s", f.Node, f.Chain, plural.Count(f.Entries, "entry", "entries"))
		}
		c.say("%s  %9s  %s\n", LocalTime(f.Last), sizeWords(f.Bytes), term.Printable(place))
	}
	if len(p.Removed) == 0 {
		c.say("Nothing to remove: %s.\n", p.nothing)
	} else {
		c.say("to remove: %s\n", p.sizes())
	}
	for _, d := range p.Damage {
		c.say("%s\n", damageLines(d, c.env.Colors()))
	}
	if len(p.Damage) > 0 && !c.force && !c.json {
		c.env.Notify(c.cmd, p.hint[0], p.hint[1])
	}
}

// sizeWords returns a number of bytes with a unit.
func sizeWords(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
