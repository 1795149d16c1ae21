package ledgercmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
)

// statsCommand has the flags of `candor ledger stats`.
type statsCommand struct {
	command
	entryFilter
	by  string
	top int
}

func newStats(shared command) *cobra.Command {
	c := &statsCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "stats [DIR|URL]",
		Short: "Count the failures, by code, tool, server, domain, class, hour or node",
		Long: `Count the failures in a ledger, or in those of all nodes of a store, by code, tool, server, domain, class, hour or
node, with a small chart; --by kind counts all entries. The number of all entries does not include settings and
checkpoints without --kind; with --json it does. Times are local; with --json they are in UTC. A failure that both a
server with Candor and the gateway in front of it recorded is counted once, as the gateway's.

The server is the one behind candor wrap or candor gateway, or the one that wrote the chain. A server behind candor
wrap has the name of its package until it has answered initialize.`,
		Example: `  candor ledger stats
  candor ledger stats --by server
  candor ledger stats --by tool --since 24h
  candor ledger stats --by hour --code TIMEOUT --json
  candor ledger stats file:/srv/fleet --by node`,
		Args: term.MaxArgs(1, "candor ledger stats DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	c.register(cmd)
	c.registerSince(cmd)
	term.Choice(cmd, &c.by, "by", "code", "count by "+term.JoinWords(dimensions), dimensions)
	cmd.Flags().IntVar(&c.top, "top", 20, "number of rows; 0 for all")
	c.registerJSON(cmd, oneObject)
	return cmd
}

func (c *statsCommand) run(ctx context.Context, args []string) error {
	if err := c.check(); err != nil {
		return err
	}
	since, err := c.sinceTime(c.env)
	if err != nil {
		return err
	}
	source, err := c.source(ctx, args, c.nodes)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	total := newTotal(c.by)
	by := c.by
	if by == byNode || by == byKind {
		by = "code"
	}
	for _, n := range source.nodes {
		stats, err := ledgerexport.Count(ctx, n.reader, by, ledger.ReadOptions{Since: since, Keep: c.keep()})
		if err != nil {
			return source.failed(err)
		}
		total.add(n.name, stats)
	}
	result := total.result()
	if !c.json {
		c.write(&result, source.store != nil)
		c.warnSkipped(int(result.Skipped)) //nolint:gosec // a count
	}
	return c.finish(result, true)
}

var dimensions = append(ledgerexport.Dimensions(), byNode, byKind)

const barWidth = 40

func (c *statsCommand) write(s *statsReport, fleet bool) {
	p := c.env.Colors()
	c.say("%s", plural.Of(s.Failures, "failure"))
	if s.Suspected > 0 {
		c.say(" (%d only suspected)", s.Suspected)
	}
	c.say(" among %s", plural.Count(c.shown(s), "entry", "entries"))
	if fleet {
		c.say(" of %s", plural.Of(len(s.Nodes), "node"))
	}
	if !s.Begin.IsZero() && c.shown(s) > 0 {
		c.say(", %s to %s", LocalTime(s.Begin), LocalTime(s.End))
	}
	c.say("\n")
	rows, rest := s.Buckets, uint64(0)
	if c.top > 0 && len(rows) > c.top {
		for _, b := range rows[c.top:] {
			rest += b.Count
		}
		rows = rows[:c.top]
	}
	if s.By == "hour" {
		for i := range rows {
			rows[i].Name = localHour(rows[i].Name)
		}
	}
	width, most := 0, uint64(1)
	for _, b := range rows {
		width, most = max(width, len([]rune(term.Printable(b.Name)))), max(most, b.Count)
	}
	for _, b := range rows {
		c.say("%s %8d  %s\n", term.Pad(term.Printable(b.Name), width), b.Count, p.Bad(bar(b.Count, most)))
	}
	if rest > 0 {
		c.say("%s %8d\n", term.Pad("(others)", width), rest)
	}
}

// shown returns the number of entries, without --kind without those about the ledger itself.
func (c *statsCommand) shown(s *statsReport) uint64 {
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
