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
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// pruneCommand has the flags of `candor ledger prune`.
type pruneCommand struct {
	*ledgerCommand
	cmd        *cobra.Command
	keep       service.KeepFlags
	dry, force bool
	yes, json  bool
}

func newPrune(l *ledgerCommand) *cobra.Command {
	c := &pruneCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "prune [DIR]",
		Short: "Remove old entries; the rest of the ledger still verifies",
		Long: `Remove old files of entries (segments) now, as --ledger-keep-age and --ledger-keep-bytes of a server do while it
runs: the oldest first, those whose last write is older than --keep-age, and those that make the total larger
than --keep-bytes. Only whole segments are removed: closed ones, and the last one of a chain whose writer has
exited. Checkpoints are kept, and a signed entry records what was removed, so that candor ledger verify reports
OK afterwards and does not mistake it for damage.

The command can be used while other processes write the ledger; the segments that they write are kept. It first
verifies the ledger: segments of a damaged chain are evidence and are removed only with --force.

The command lists the segments and asks before it removes any. Unfinished files, which a process leaves that is
killed while it compresses a segment, are removed without a question, except with --dry-run.

A limit of 0 keeps nothing. In the flags of servers 0 means no limit.

Exit codes: 0 done, or nothing to do; 1 segments of a damaged chain would be removed; 2 an error, or --yes is missing
where the command cannot ask. With --json it does not ask: the exit code is 0, and done is false.`,
		Example: `  candor ledger prune ./ledger --keep-age 30d --dry-run
  candor ledger prune ./ledger --keep-age 30d --keep-bytes 2GiB
  candor ledger prune --keep-bytes 500MB --yes --json`,
		Args: term.MaxArgs(1, "candor ledger prune DIR --keep-age 30d"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.cmd = cmd
	c.registerLimits(cmd)
	c.keep.RegisterCheckpoints(cmd)
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "list what would be removed, and remove nothing")
	cmd.Flags().BoolVar(&c.force, "force", false, "also remove segments of damaged chains, which are evidence")
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object; needs --yes to change anything")
	return cmd
}

// registerLimits adds the limits. The names that server commands have for them are hidden aliases.
func (c *pruneCommand) registerLimits(cmd *cobra.Command) {
	age, size := (*term.AgeFlag)(&c.keep.Age), (*term.BytesFlag)(&c.keep.Bytes)
	cmd.Flags().Var(age, "keep-age", "remove segments older than this, such as 720h or 30d; default $"+plug.EnvKeepAge)
	cmd.Flags().Var(size, "keep-bytes", "remove the oldest segments above this total size, such as 500MB or 2GiB; default $"+plug.EnvKeepBytes)
	cmd.Flags().Var(age, "ledger-keep-age", "alias of --keep-age")
	cmd.Flags().Var(size, "ledger-keep-bytes", "alias of --keep-bytes")
	cmd.Flags().Lookup("ledger-keep-age").Hidden = true
	cmd.Flags().Lookup("ledger-keep-bytes").Hidden = true
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
	if err == nil && len(plan.Removed) == 0 && !c.dry {
		_, err = ledger.Prune(c.cmd.Context(), dir, options) // removes unfinished files of killed processes
	}
	if err != nil {
		return cannotPrune(err)
	}
	report := newPruneReport(plan)
	if report.Damage, err = c.damage(dir, plan); err != nil {
		return err
	}
	if !c.json {
		c.explain(report)
	}
	refused := len(report.Damage) > 0 && !c.force
	if !refused && !c.dry && len(plan.Removed) > 0 {
		if err := c.confirmAndPrune(dir, options, report); err != nil {
			return err
		}
	}
	if c.json {
		err = term.WriteJSONLine(c.env.Out, report)
	}
	if err == nil && refused {
		return term.Found()
	}
	return err
}

func (c *pruneCommand) confirmAndPrune(dir string, options ledger.Options, report *pruneReport) error {
	confirmed, err := c.env.Confirm(c.cmd, c.yes, c.json, "candor ledger prune --yes", "Remove them? They cannot be restored.")
	if !confirmed {
		return err
	}
	return c.prune(dir, options, report)
}

// options returns the limits. 0 keeps nothing, as opposed to a limit that is not set.
func (c *pruneCommand) options(dir string) (ledger.Options, error) {
	if c.changed("keep-age", "ledger-keep-age") {
		c.keep.Age = max(c.keep.Age, time.Nanosecond)
	}
	if c.changed("keep-bytes", "ledger-keep-bytes") {
		c.keep.Bytes = max(c.keep.Bytes, 1)
	}
	o, err := c.keep.Options(dir, "prune", c.env.Getenv, slog.New(slog.NewTextHandler(c.env.Err, nil)))
	if err == nil && o.RetainAge == 0 && o.RetainBytes == 0 {
		err = term.BadInput("candor ledger prune --keep-age 30d, or --keep-bytes 2GiB", "no limit: name what to keep")
	}
	return o, err
}

func (c *pruneCommand) changed(names ...string) bool {
	return slices.ContainsFunc(names, c.cmd.Flags().Changed)
}

// damage verifies the ledger and returns the damage in chains with segments to remove.
func (c *pruneCommand) damage(dir string, plan ledger.Pruning) ([]ledgerverify.Damage, error) {
	found := []ledgerverify.Damage{}
	if len(plan.Removed) == 0 {
		return found, nil
	}
	verified, err := ledgerverify.Dir(c.cmd.Context(), dir, c.verifyOptions(dir))
	if err != nil {
		return nil, cannotRead(err)
	}
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
	damage := report.Damage
	*report = *newPruneReport(done)
	report.Damage, report.Done = damage, true
	if !c.json {
		fmt.Fprintf(c.env.Out, "removed %s\n", report.sizes())
	}
	return nil
}

func cannotPrune(err error) *term.Error {
	if errors.Is(err, ledgerverify.ErrNoLedger) {
		return cannotRead(ledgerverify.ErrNoLedger)
	}
	return term.BadInput("check that the folder can be written, and run candor ledger verify", "pruning: %s", term.Cause(err))
}

func newPruneReport(p ledger.Pruning) *pruneReport {
	r := &pruneReport{Removed: p.Removed, KeptSegments: p.KeptFiles, KeptBytes: p.KeptBytes}
	if r.Removed == nil {
		r.Removed = []ledger.Removed{}
	}
	for _, f := range p.Removed {
		r.RemovedBytes += f.Bytes
	}
	return r
}

// sizes describes how much is removed and kept.
func (r *pruneReport) sizes() string {
	return fmt.Sprintf("%s, %s; %s, %s kept", term.Count(uint64(len(r.Removed)), "segment", "segments"), sizeWords(r.RemovedBytes),
		term.Count(uint64(r.KeptSegments), "segment", "segments"), sizeWords(r.KeptBytes)) //nolint:gosec // a count
}

func (c *pruneCommand) explain(r *pruneReport) {
	if len(r.Removed) == 0 {
		fmt.Fprintf(c.env.Out, "Nothing to remove: %s, %s within the limits.\n",
			term.Count(uint64(r.KeptSegments), "segment", "segments"), sizeWords(r.KeptBytes)) //nolint:gosec // a count
		return
	}
	for _, f := range r.Removed {
		fmt.Fprintf(c.env.Out, "%s  %9s  %s\n", LocalTime(f.Last), sizeWords(f.Bytes), term.Printable(f.File))
	}
	fmt.Fprintf(c.env.Out, "to remove: %s\n", r.sizes())
	for _, h := range r.Damage {
		fmt.Fprintf(c.env.Out, "FAILED  %s  %s\n        %s\n", h.Kind, location(h), term.Printable(h.Text))
	}
	if len(r.Damage) > 0 && !c.force {
		c.env.Notify(c.cmd, "segments of a damaged chain are evidence; nothing was removed",
			"copy the folder to another place, then use --force")
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
