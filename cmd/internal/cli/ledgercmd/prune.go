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
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// pruneCommand has the flags of `candor ledger prune`.
type pruneCommand struct {
	command
	keep       service.KeepFlags
	dry, force bool
}

func newPrune(shared command) *cobra.Command {
	c := &pruneCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "prune [DIR]",
		Short: "Remove old entries; the rest of the ledger still verifies",
		Long: `Remove old files of entries (segments) now, as --ledger-keep-age and --ledger-keep-bytes of a server do while it
runs: the oldest first, those not written for --keep-age, and those that make the total larger than --keep-bytes.
Only whole segments are removed: closed ones, and the last one of a chain after its writer has exited.
Checkpoints are kept, and a signed entry records what was removed, so that candor ledger verify reports OK
afterwards and does not mistake it for damage.

The command can be used while other processes write the ledger; the segments that they write are kept. It first
verifies the ledger: segments of a damaged chain are evidence and are removed only with --force.

The command lists the segments and asks before it removes any.

A limit of 0 keeps nothing. In the flags of servers 0 means no limit.

Exit codes: 0 done, or nothing to do; 1 segments of a damaged chain would be removed; 2 an error, or --yes is missing
where the command cannot ask. With --json it does not ask: the exit code is 0, and done is false.`,
		Example: `  candor ledger prune ./ledger --keep-age 30d --dry-run
  candor ledger prune ./ledger --keep-age 30d --keep-bytes 2GiB
  candor ledger prune --keep-bytes 500MB --yes --json`,
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
	c.registerYes(cmd)
	return cmd
}

// pruneReport is the output of `candor ledger prune --json`.
type pruneReport struct {
	Removed      []ledger.Removed      `json:"removed"`
	RemovedBytes int64                 `json:"removed_bytes"`
	KeptSegments int                   `json:"kept_segments"`
	KeptBytes    int64                 `json:"kept_bytes"`
	Done         bool                  `json:"done"`
	Damage       []ledgerverify.Damage `json:"damage"` // of the chains with segments to remove
}

func (c *pruneCommand) run(args []string) error {
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
	report := pruneReport{Damage: []ledgerverify.Damage{}}
	report.set(plan)
	if len(plan.Removed) == 0 {
		c.say("Nothing to remove: %s, %s within the limits.\n",
			plural.Of(report.KeptSegments, "segment"), sizeWords(report.KeptBytes))
		return c.finish(report, true)
	}
	if report.Damage, err = c.damage(dir, plan); err != nil {
		return err
	}
	c.list(&report)
	if len(report.Damage) > 0 && !c.force {
		if !c.json {
			c.env.Notify(c.cmd, "segments of a damaged chain are evidence; nothing was removed", "copy the folder to another place, then use --force")
		}
		return c.finish(report, false)
	}
	if !c.dry {
		confirmed, err := c.confirm("Remove them? They cannot be restored.")
		if confirmed {
			err = c.prune(dir, options, &report)
		}
		if err != nil {
			return err
		}
	}
	return c.finish(report, true)
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

// damage verifies the ledger and returns the damage in chains with segments to remove.
func (c *pruneCommand) damage(dir string, plan ledger.Pruning) ([]ledgerverify.Damage, error) {
	verified, err := c.verify(dir, c.verifyOptions(dir))
	if err != nil {
		return nil, err
	}
	found := []ledgerverify.Damage{}
	for _, h := range verified.Damage {
		if slices.ContainsFunc(plan.Removed, func(r ledger.Removed) bool { return r.Chain == h.Chain }) {
			found = append(found, h)
		}
	}
	return found, nil
}

func (c *pruneCommand) prune(dir string, options ledger.Options, report *pruneReport) error {
	done, err := ledger.Prune(c.cmd.Context(), dir, options)
	if err != nil {
		return cannotPrune(err)
	}
	report.set(done)
	report.Done = true
	c.say("removed %s\n", report.sizes())
	return nil
}

func cannotPrune(err error) *term.Error {
	if errors.Is(err, ledgerverify.ErrNoLedger) {
		return cannotRead(ledgerverify.ErrNoLedger)
	}
	return term.BadInput("check that the folder can be written, and run candor ledger verify", "pruning: %s", term.Cause(err))
}

func (r *pruneReport) set(p ledger.Pruning) {
	r.Removed, r.RemovedBytes = append([]ledger.Removed{}, p.Removed...), 0
	r.KeptSegments, r.KeptBytes = p.KeptFiles, p.KeptBytes
	for _, f := range p.Removed {
		r.RemovedBytes += f.Bytes
	}
}

// sizes describes how much is removed and kept.
func (r *pruneReport) sizes() string {
	return fmt.Sprintf("%s, %s; %s, %s kept", plural.Of(len(r.Removed), "segment"), sizeWords(r.RemovedBytes),
		plural.Of(r.KeptSegments, "segment"), sizeWords(r.KeptBytes))
}

func (c *pruneCommand) list(r *pruneReport) {
	for _, f := range r.Removed {
		c.say("%s  %9s  %s\n", LocalTime(f.Last), sizeWords(f.Bytes), term.Printable(f.File))
	}
	c.say("to remove: %s\n", r.sizes())
	for _, h := range r.Damage {
		c.say("%s\n", damageLines(view.Damage{Damage: h}, term.Colors{}))
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
