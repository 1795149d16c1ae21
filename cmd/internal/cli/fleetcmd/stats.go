package fleetcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
)

// The dimensions that a fleet has and a ledger does not.
const (
	byNode ledgerexport.Dimension = "node"
	byKind ledgerexport.Dimension = "kind" // counts all entries, not only failures
)

func dimensions() []string {
	return term.Strings(append([]ledgerexport.Dimension{byNode, byKind}, ledgerexport.Dimensions()...))
}

// statsCommand has the flags of `candor fleet stats`.
type statsCommand struct {
	ledgercmd.Filter
	env       *term.Env
	cmd       *cobra.Command
	by, since string
	nodes     []string
	top       int
	json      bool
}

func newStats(env *term.Env) *cobra.Command {
	c := &statsCommand{env: env}
	cmd := &cobra.Command{
		Use:   "stats URL",
		Short: "Count the failures of all nodes",
		Long: `Count the failures of all nodes from their entries: by node, code, tool, server, domain, class or hour, or all entries
by kind. The numbers are those of candor ledger stats in the folders of the nodes together. Counters of the store
are not used, so candor fleet verify proves what is counted here.

Times are local; with --json they are in UTC.`,
		Example: `  candor fleet stats file:/srv/fleet
  candor fleet stats file:/srv/fleet --since 24h --by code
  candor fleet stats file:/srv/fleet --by tool --node web-1 --json`,
		Args: storeArg("stats"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	c.cmd = cmd
	c.Register(cmd)
	cmd.Flags().StringVar(&c.by, "by", "code", "count by "+term.JoinWords(dimensions()))
	cmd.Flags().StringVar(&c.since, "since", "", "only entries not older than this, such as 15m, 24h or 7d")
	cmd.Flags().StringSliceVar(&c.nodes, "node", nil, "only entries of these nodes")
	cmd.Flags().IntVar(&c.top, "top", 20, "number of rows; 0 for all")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	term.CompleteFlag(cmd, "by", dimensions())
	return cmd
}

// fleetStats is the output of `candor fleet stats --json`.
type fleetStats struct {
	ledgerexport.Stats
	Nodes []nodeStats `json:"nodes"`
}

// nodeStats is the count of one node.
type nodeStats struct {
	Node      string                `json:"node"`
	Entries   uint64                `json:"entries"`
	Failures  uint64                `json:"failures"`
	Suspected uint64                `json:"suspected"`
	Skipped   uint64                `json:"skipped"`
	Kinds     map[ledger.Kind]int64 `json:"kinds"`
}

func (c *statsCommand) run(ctx context.Context, url string) error {
	if err := c.Check(); err != nil {
		return err
	}
	if !slices.Contains(dimensions(), c.by) {
		return term.Unknown("--by", c.by, dimensions())
	}
	since, err := ledgercmd.Since(c.env, c.since)
	if err != nil {
		return err
	}
	store, _, err := c.env.OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // it was only read
	nodes, err := chainsByNode(ctx, store, c.nodes)
	if err != nil {
		return err
	}
	total := newTotal(ledgerexport.Dimension(c.by))
	for _, n := range nodes {
		stats, err := c.count(ctx, store, n, ledger.ReadOptions{Since: since})
		if err != nil {
			return term.StoreError(err)
		}
		total.add(n[0].Node, stats)
	}
	result := total.result()
	if c.json {
		return term.WriteJSONLine(c.env.Out, result)
	}
	c.print(&result)
	return nil
}

// count counts the entries of one node.
func (c *statsCommand) count(ctx context.Context, store fleet.Store, chains []fleet.Chain, options ledger.ReadOptions) (ledgerexport.Stats, error) {
	r := ledger.NewReader(view.New(ctx, store, chains))
	var err error
	if options.Keep, err = c.Keep(ctx, r); err != nil {
		return ledgerexport.Stats{}, err
	}
	by := ledgerexport.Dimension(c.by)
	if by == byNode || by == byKind {
		by = ledgerexport.ByCode
	}
	return ledgerexport.Count(ctx, r, by, options)
}

// chainsByNode lists the chains of the named nodes, or of all, one list per node.
func chainsByNode(ctx context.Context, store fleet.Store, names []string) ([][]fleet.Chain, error) {
	chains, err := store.Chains(ctx)
	if err != nil {
		return nil, term.StoreError(err)
	}
	var nodes [][]fleet.Chain
	var known []string
	for _, c := range chains {
		if len(known) == 0 || known[len(known)-1] != c.Node {
			known = append(known, c.Node)
			nodes = append(nodes, nil)
		}
		nodes[len(nodes)-1] = append(nodes[len(nodes)-1], c)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, term.Unknown("--node", name, known)
		}
	}
	return slices.DeleteFunc(nodes, func(n []fleet.Chain) bool { return len(names) > 0 && !slices.Contains(names, n[0].Node) }), nil
}

// total adds up the counts of nodes.
type total struct {
	sum    fleetStats
	counts map[string]uint64
}

func newTotal(by ledgerexport.Dimension) *total {
	t := &total{counts: map[string]uint64{}}
	t.sum.By, t.sum.Kinds, t.sum.Nodes, t.sum.Buckets = by, map[ledger.Kind]int64{}, []nodeStats{}, []ledgerexport.Bucket{}
	return t
}

func (t *total) add(node string, s ledgerexport.Stats) {
	t.sum.Entries += s.Entries
	t.sum.Failures += s.Failures
	t.sum.Suspected += s.Suspected
	t.sum.Skipped += s.Skipped
	if !s.Begin.IsZero() && (t.sum.Begin.IsZero() || s.Begin.Before(t.sum.Begin)) {
		t.sum.Begin = s.Begin
	}
	if s.End.After(t.sum.End) {
		t.sum.End = s.End
	}
	for kind, n := range s.Kinds {
		t.sum.Kinds[kind] += n
	}
	t.sum.Nodes = append(t.sum.Nodes, nodeStats{node, s.Entries, s.Failures, s.Suspected, s.Skipped, s.Kinds})
	switch t.sum.By {
	case byNode:
		t.counts[node] += s.Failures
	case byKind:
		for kind, n := range s.Kinds {
			t.counts[string(kind)] += uint64(n) //nolint:gosec // a count
		}
	default:
		for _, b := range s.Buckets {
			t.bucket(b)
		}
	}
}

// maxBuckets limits the memory of a count, as for one ledger.
const maxBuckets = 10000

func (t *total) bucket(b ledgerexport.Bucket) {
	if _, known := t.counts[b.Name]; !known && len(t.counts) >= maxBuckets {
		b.Name = "other"
	}
	t.counts[b.Name] += b.Count
}

// result returns the sum, with the largest count first, or hours in order of time.
func (t *total) result() fleetStats {
	for name, n := range t.counts {
		t.sum.Buckets = append(t.sum.Buckets, ledgerexport.Bucket{Name: name, Count: n})
	}
	slices.SortFunc(t.sum.Buckets, func(a, b ledgerexport.Bucket) int {
		if t.sum.By != ledgerexport.ByHour && a.Count != b.Count {
			return cmp.Compare(b.Count, a.Count)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return t.sum
}

func (c *statsCommand) print(s *fleetStats) {
	fmt.Fprint(c.env.Out, term.Count(s.Failures, "failure", "failures"))
	if s.Suspected > 0 {
		fmt.Fprintf(c.env.Out, " (%d only suspected)", s.Suspected)
	}
	shown := s.Entries
	if !c.ShowsInternal() {
		shown -= uint64(s.Kinds[ledger.KindSetting] + s.Kinds[ledger.KindCheckpoint]) //nolint:gosec // counts
	}
	fmt.Fprintf(c.env.Out, " among %s of %s", term.Count(shown, "entry", "entries"), term.Count(uint64(len(s.Nodes)), "node", "nodes"))
	if !s.Begin.IsZero() && shown > 0 {
		fmt.Fprintf(c.env.Out, ", %s to %s", ledgercmd.LocalTime(s.Begin), ledgercmd.LocalTime(s.End))
	}
	fmt.Fprintln(c.env.Out)
	c.chart(s)
	if s.Skipped > 0 {
		c.env.Notify(c.cmd, term.Count(s.Skipped, "invalid line was", "invalid lines were")+" skipped", "run candor fleet verify")
	}
}

func (c *statsCommand) chart(s *fleetStats) {
	rows, rest := s.Buckets, uint64(0)
	if c.top > 0 && len(rows) > c.top {
		for _, b := range rows[c.top:] {
			rest += b.Count
		}
		rows = rows[:c.top]
	}
	width, most := 0, uint64(1)
	for i := range rows {
		if s.By == ledgerexport.ByHour {
			rows[i].Name = ledgercmd.LocalHour(rows[i].Name)
		}
		width, most = max(width, len([]rune(term.Printable(rows[i].Name)))), max(most, rows[i].Count)
	}
	p := c.env.Colors()
	for _, b := range rows {
		fmt.Fprintf(c.env.Out, "%s %8d  %s\n", term.Pad(term.Printable(b.Name), width), b.Count, p.Bad(ledgercmd.Bar(b.Count, most)))
	}
	if rest > 0 {
		fmt.Fprintf(c.env.Out, "%s %8d\n", term.Pad("(others)", width), rest)
	}
}
