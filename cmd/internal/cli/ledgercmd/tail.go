package ledgercmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// tailCommand has the flags of `candor ledger tail`.
type tailCommand struct {
	*ledgerCommand
	entryFilter
	cmd    *cobra.Command
	follow bool
	last   int
	all    bool
	json   bool
}

func newTail(l *ledgerCommand) *cobra.Command {
	c := &tailCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "tail [DIR]",
		Short: "Show the last entries, and with -f new ones as they are written",
		Long: `Show the last entries of all chains in order of time: local time, kind, code, server, tool, ref, message and
CHAIN/SEQ. With -f it waits for new entries until it is interrupted, also when a writer rotates its file or restarts.
The entries that the ledger writes about itself, settings and checkpoints, are shown only with --all or --kind.

With --json the lines are as stored, with times in UTC.`,
		Example: `  candor ledger tail -n 20
  candor ledger tail -f --kind failure
  candor ledger tail --server @modelcontextprotocol/server-github
  candor ledger tail --code RATE_LIMITED --json`,
		Args: term.MaxArgs(1, "candor ledger tail DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	c.cmd = cmd
	c.register(cmd)
	cmd.Flags().BoolVarP(&c.follow, "follow", "f", false, "wait for new entries")
	cmd.Flags().IntVarP(&c.last, "lines", "n", 10, "number of entries; 0 for all")
	cmd.Flags().BoolVar(&c.all, "all", false, "also show settings and checkpoints")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the lines of the ledger unchanged")
	return cmd
}

func (c *tailCommand) run(ctx context.Context, args []string) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.last < 0 {
		return term.BadInput("a number from 0", "-n %d: negative", c.last)
	}
	r, err := c.reader(args)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	keep, err := c.keep(ctx, r)
	if err != nil {
		return err
	}
	skipped, shown := 0, 0
	options := ledger.ReadOptions{Last: c.last, Follow: c.follow, Keep: c.shown(keep), Skipped: func(string, int64) { skipped++ }}
	for line, err := range r.Entries(ctx, options) {
		if err != nil {
			return cannotRead(err)
		}
		if err := c.write(line); err != nil {
			return err
		}
		shown++
	}
	c.warnSkipped(c.cmd, skipped)
	if shown == 0 && !c.json && !c.follow {
		c.env.Notify(c.cmd, "no entries to show", c.whyNone())
	}
	return nil
}

// whyNone returns a hint for an empty output.
func (c *tailCommand) whyNone() string {
	switch {
	case len(c.servers) > 0:
		return "candor ledger stats --by server lists the servers that failed"
	case len(c.tools) > 0:
		return "candor ledger stats --by tool lists the tools that failed"
	case len(c.codes) > 0:
		return "candor ledger stats lists the codes"
	case c.all || len(c.kinds) > 0:
		return "candor ledger stats counts the failures"
	}
	return "candor ledger tail --all also shows settings and checkpoints"
}

// shown returns a filter that, without --all and --kind, also omits the entries about the ledger itself.
func (c *tailCommand) shown(keep func(*ledger.Line) bool) func(*ledger.Line) bool {
	if c.all || len(c.kinds) > 0 {
		return keep
	}
	return func(l *ledger.Line) bool { return !isInternal(l.Kind) && (keep == nil || keep(l)) }
}

// warnSkipped prints how many lines were skipped because they are not valid entries.
func (c *ledgerCommand) warnSkipped(cmd *cobra.Command, n int) {
	if n > 0 {
		c.env.Notify(cmd, term.Count(uint64(n), "invalid line was", "invalid lines were")+" skipped", "run candor ledger verify")
	}
}

func (c *tailCommand) write(l *ledger.Line) error {
	if c.json {
		fmt.Fprintf(c.env.Out, "%s\n", l.Raw())
		return c.env.Out.EndLine()
	}
	r, err := l.Record()
	if err != nil {
		return term.BadInput("run candor ledger verify", "%s", err)
	}
	fmt.Fprintln(c.env.Out, entryWords(&r, c.env.Colors()))
	return c.env.Out.EndLine()
}
