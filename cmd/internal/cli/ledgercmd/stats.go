package ledgercmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
)

// statsCommand has the flags of `candor ledger stats`.
type statsCommand struct {
	*ledgerCommand
	entryFilter
	by, since string
	top       int
	json      bool
}

func newStats(l *ledgerCommand) *cobra.Command {
	c := &statsCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "stats [DIR]",
		Short: "Count the failures, by code, tool, server, domain, class or hour",
		Long: `Count the failures in a ledger, by code, tool, server, domain, class or hour, with a small chart. Only entries of
kind failure are counted. The number of all entries does not include settings and checkpoints without --kind; with
--json it does. Times are local; with --json they are in UTC.

The server is the one behind candor wrap or candor gateway, or the one that wrote the chain. A server behind candor
wrap has the name of its package until it has answered initialize; the failures of one run count for the last name.`,
		Example: `  candor ledger stats
  candor ledger stats --by server
  candor ledger stats --by tool --since 24h
  candor ledger stats --by hour --code TIMEOUT --json`,
		Args: term.MaxArgs(1, "candor ledger stats DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), cmd, args) },
	}
	c.register(cmd)
	cmd.Flags().StringVar(&c.by, "by", "code", "count by "+term.JoinWords(dimensionNames()))
	cmd.Flags().StringVar(&c.since, "since", "", "only entries not older than this, such as 15m, 24h or 7d")
	cmd.Flags().IntVar(&c.top, "top", 20, "number of rows; 0 for all")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	term.CompleteFlag(cmd, "by", dimensionNames())
	return cmd
}

func (c *statsCommand) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	if err := c.check(); err != nil {
		return err
	}
	if !slices.Contains(dimensionNames(), c.by) {
		return term.Unknown("--by", c.by, dimensionNames())
	}
	r, since, err := c.readerSince(c.since, args)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	keep, err := c.keep(ctx, r)
	if err != nil {
		return err
	}
	stats, err := ledgerexport.Count(ctx, r, ledgerexport.Dimension(c.by), ledger.ReadOptions{Since: since, Keep: keep})
	if err != nil {
		return cannotRead(err)
	}
	if c.json {
		return term.WriteJSONLine(c.env.Out, stats)
	}
	c.write(&stats)
	c.warnSkipped(cmd, int(stats.Skipped)) //nolint:gosec // a count
	return nil
}

const barWidth = 40

func (c *statsCommand) write(s *ledgerexport.Stats) {
	p := c.env.Colors()
	fmt.Fprint(c.env.Out, term.Count(s.Failures, "failure", "failures"))
	if s.Suspected > 0 {
		fmt.Fprintf(c.env.Out, " (%d only suspected)", s.Suspected)
	}
	fmt.Fprintf(c.env.Out, " among %s", term.Count(c.shown(s), "entry", "entries"))
	if !s.Begin.IsZero() && c.shown(s) > 0 {
		fmt.Fprintf(c.env.Out, ", %s to %s", LocalTime(s.Begin), LocalTime(s.End))
	}
	fmt.Fprintln(c.env.Out)
	rows, rest := s.Buckets, uint64(0)
	if c.top > 0 && len(rows) > c.top {
		for _, b := range rows[c.top:] {
			rest += b.Count
		}
		rows = rows[:c.top]
	}
	if s.By == ledgerexport.ByHour {
		for i := range rows {
			rows[i].Name = localHour(rows[i].Name)
		}
	}
	width, most := 0, uint64(1)
	for _, b := range rows {
		width, most = max(width, len([]rune(term.Printable(b.Name)))), max(most, b.Count)
	}
	for _, b := range rows {
		fmt.Fprintf(c.env.Out, "%s %8d  %s\n", term.Pad(term.Printable(b.Name), width), b.Count, p.Bad(bar(b.Count, most)))
	}
	if rest > 0 {
		fmt.Fprintf(c.env.Out, "%s %8d\n", term.Pad("(others)", width), rest)
	}
}

// shown returns the number of entries, without --kind without those about the ledger itself.
func (c *statsCommand) shown(s *ledgerexport.Stats) uint64 {
	n := s.Entries
	if len(c.kinds) == 0 {
		n -= uint64(s.Kinds[ledger.KindSetting] + s.Kinds[ledger.KindCheckpoint]) //nolint:gosec // counts
	}
	return n
}

// bar draws n relative to most in eighths of a character, at least one eighth.
func bar(n, most uint64) string {
	eighths := max(1, n*barWidth*8/most)
	text := strings.Repeat("█", int(eighths/8)) //nolint:gosec // at most the width
	if part := eighths % 8; part > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return text
}
