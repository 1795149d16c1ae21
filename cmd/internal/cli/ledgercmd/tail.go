package ledgercmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
)

// tailCommand has the flags of `candor ledger tail`.
type tailCommand struct {
	command
	entryFilter
	follow bool
	last   int
	all    bool

	skipped, printed int
}

func newTail(shared command) *cobra.Command {
	c := &tailCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "tail [DIR|URL]",
		Short: "Show the last entries, and with -f new ones as they are written",
		Long: `Show the last entries of all chains in order of time: local time, kind, code, server, tool, ref, message and
CHAIN/SEQ; of a store the name of the node comes first. With -f it waits for new entries until it is interrupted,
also when a writer rotates its file or restarts. The entries that the ledger writes about itself, settings and
checkpoints, are shown only with --all or --kind.

With --json the lines are as stored, with times in UTC; of a store each is an object with the node and the entry.`,
		Example: `  candor ledger tail -n 20
  candor ledger tail -f --kind failure
  candor ledger tail --server @modelcontextprotocol/server-github
  candor ledger tail --code RATE_LIMITED --json
  candor ledger tail file:/srv/fleet -f --node web-1`,
		Args: term.MaxArgs(1, "candor ledger tail DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	c.register(cmd)
	cmd.Flags().BoolVarP(&c.follow, "follow", "f", false, "wait for new entries")
	cmd.Flags().IntVarP(&c.last, "lines", "n", 10, "number of entries; 0 for all")
	cmd.Flags().BoolVar(&c.all, "all", false, "also show settings and checkpoints")
	c.registerJSON(cmd, "print one JSON object per entry")
	return cmd
}

func (c *tailCommand) run(ctx context.Context, args []string) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.last < 0 {
		return term.BadInput("a number from 0", "-n %d: negative", c.last)
	}
	nodes := c.nodes
	if name, _ := c.named(args); c.follow && fleet.IsLocation(name) {
		nodes = nil // one may appear later
	}
	s, err := c.source(ctx, args, nodes)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it was only read
	if err := c.show(ctx, s); err != nil {
		return s.failed(err)
	}
	c.warnSkipped(c.skipped)
	if c.printed == 0 && !c.json && !c.follow {
		c.env.Notify(c.cmd, "no entries to show", "candor ledger stats counts the failures; --all also shows settings and checkpoints")
	}
	return nil
}

// storePoll is the interval at which a store is asked for new entries.
const storePoll = time.Second

// show shows the last entries and those that are written later.
func (c *tailCommand) show(ctx context.Context, s *source) error {
	keep := c.shown(c.keep())
	options := ledger.ReadOptions{Last: c.last, Follow: c.follow, Keep: keep, Skipped: func(string, int64) { c.skipped++ }}
	if s.view != nil && c.follow {
		s.view.Grow()
		options.Poll = storePoll
		options.Keep = func(l *ledger.Line) bool { return c.wanted(s.node(l.Chain())) && (keep == nil || keep(l)) }
	}
	for line, err := range s.Entries(ctx, options) {
		if err == nil {
			err = c.write(s.node(line.Chain()), line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *tailCommand) wanted(node string) bool {
	return len(c.nodes) == 0 || slices.Contains(c.nodes, node)
}

// shown returns a filter that, without --all and --kind, also omits the entries about the ledger itself.
func (c *tailCommand) shown(keep func(*ledger.Line) bool) func(*ledger.Line) bool {
	if c.all || len(c.kinds) > 0 {
		return keep
	}
	return func(l *ledger.Line) bool { return !isInternal(l.Kind) && (keep == nil || keep(l)) }
}

// warnSkipped prints how many lines were skipped because they are not valid entries.
func (c *command) warnSkipped(n int) {
	if n > 0 {
		c.env.Notify(c.cmd, plural.Count(n, "invalid line was", "invalid lines were")+" skipped", "run candor ledger verify")
	}
}

// write prints an entry, after the node if it has one.
func (c *tailCommand) write(node string, l *ledger.Line) error {
	switch {
	case c.json && node == "":
		fmt.Fprintf(c.env.Out, "%s\n", l.Raw())
	case c.json && json.Valid(l.Raw()):
		fmt.Fprintf(c.env.Out, "{\"node\":%q,\"entry\":%s}\n", node, l.Raw())
	case c.json:
		c.skipped++
		return nil
	default:
		r, err := l.Record()
		if err != nil {
			c.skipped++
			return nil //nolint:nilerr // it is counted
		}
		p := c.env.Colors()
		if node != "" {
			fmt.Fprintf(c.env.Out, "%s  ", p.Bold(term.Printable(node)))
		}
		fmt.Fprintln(c.env.Out, entryWords(&r, p))
	}
	c.printed++
	return c.env.Out.EndLine()
}
