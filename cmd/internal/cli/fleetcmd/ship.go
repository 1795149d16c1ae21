package fleetcmd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/ledger"
)

// shipCommand has the flags of `candor fleet ship`.
type shipCommand struct {
	env  *term.Env
	once bool
	json bool
	wait time.Duration
}

func newShip(env *term.Env) *cobra.Command {
	c := &shipCommand{env: env}
	cmd := &cobra.Command{
		Use:   "ship DIR URL",
		Short: "Ship a ledger folder to a store",
		Long: `Ship the ledger in the folder DIR to the store at URL, until the command is stopped: for servers that do not ship their
ledger themselves, such as a Go server with package serve. The servers of candor ship their own: give them the URL with --ledger.
Lines of a running server are shipped when a checkpoint covers them, which takes about a second.

Exit codes: 0 done; 1 a chain of the folder and its copy in the store do not fit, or entries still wait, or, with --once, a
chain of a killed server is not recovered; 2 an error.`,
		Example: `  candor fleet ship /var/lib/app/ledger file:/srv/fleet?node=app-1
  candor-cluster fleet ship /var/lib/app/ledger 'nats://nats-1:4222?node=app-1&creds=app-1.creds'
  candor fleet ship --once --json ledger file:/srv/fleet`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return term.BadInput("such as candor fleet ship DIR file:/srv/fleet", "a folder and the URL of a store are needed")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0], args[1]) },
	}
	cmd.Flags().BoolVar(&c.once, "once", false, "end when the store has all entries of the folder")
	cmd.Flags().DurationVar(&c.wait, "wait", time.Minute, "with --once: end after this time although entries wait")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object at the end, and log as JSON lines")
	return cmd
}

func (c *shipCommand) run(cmd *cobra.Command, dir, url string) error {
	if !fleet.IsLocation(url) {
		return term.BadInput("a URL such as file:/srv/fleet, nats://HOST:4222 or postgres://USER@HOST/DATABASE", "%q is not the URL of a store", url)
	}
	at, err := fleet.ParseLocation(url)
	if err != nil {
		return service.BadLedger(err)
	}
	if at.Mode != fleet.ModeLocal {
		return term.BadInput("give the URL to the server itself: --ledger "+at.String(), "ack=%s: entries are shipped after they were acknowledged", at.Mode)
	}
	if err := isLedger(dir); err != nil {
		return err
	}
	ctx, stop := term.StopContext(cmd)
	defer stop()
	s, err := service.Ship(ctx, c.env, dir, &at, c.log())
	if err != nil {
		return err
	}
	if !c.once {
		<-ctx.Done()
		return c.end(s, nil)
	}
	limited, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	behind, err := awaitCheckpoints(limited, dir)
	c.await(limited, s)
	if failed := c.end(s, behind); failed != nil {
		return failed
	}
	return err
}

// checkpointWithin is more than the time after which a running server has signed a checkpoint over its last entries.
const checkpointWithin = 3 * time.Second

// awaitCheckpoints waits until checkpoints cover the entries that the folder has now, because only then they are shipped. It returns the number
// of those that are not covered after some time, by chain: the server that wrote them was killed, and no server has recovered them.
func awaitCheckpoints(ctx context.Context, dir string) (behind map[string]uint64, err error) {
	r, err := ledger.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	names, err := r.Chains()
	if err != nil {
		return nil, err
	}
	last := map[string]uint64{}
	for _, name := range names {
		if last[name], err = lastEntry(ctx, r, name); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, checkpointWithin)
	defer cancel()
	for {
		behind = notCovered(r, last)
		if len(behind) == 0 || limited.Err() != nil {
			return behind, nil
		}
		select {
		case <-limited.Done():
		case <-time.After(checkpointWithin / 30):
		}
	}
}

// lastEntry returns the number of the last entry of a chain that no checkpoint covers, and 0 if there is none. Entries with checkpoints do not
// count: no caller waited for them, and a server that is idle leaves the last one uncovered.
func lastEntry(ctx context.Context, r *ledger.Reader, chain string) (last uint64, err error) {
	durable, ended, err := r.Durable(chain)
	if err != nil || ended {
		return 0, nil //nolint:nilerr // it was removed meanwhile
	}
	for line, err := range r.Entries(ctx, ledger.ReadOptions{Chain: chain, From: durable + 1}) {
		if err != nil {
			return last, err
		}
		if line.Kind != ledger.KindCheckpoint {
			last = line.Seq
		}
	}
	return last, nil
}

// notCovered returns how many of the entries up to last are not known to be durable, for each chain with such entries.
func notCovered(r *ledger.Reader, last map[string]uint64) map[string]uint64 {
	behind := map[string]uint64{}
	for chain, seq := range last {
		if durable, ended, err := r.Durable(chain); err == nil && !ended && durable < seq {
			behind[chain] = seq - durable
		}
	}
	return behind
}

// shipResult is the output of --json.
type shipResult struct {
	ship.Stats
	// Behind is the number of entries that were not shipped because no server has recovered their chain, by chain.
	Behind map[string]uint64 `json:"not_recovered,omitempty"`
}

// isLedger returns an error unless dir has a ledger: a folder with a mistyped name would be shipped as an empty one.
func isLedger(dir string) error {
	r, err := ledger.OpenReader(dir)
	if err != nil {
		return term.BadInput("name the folder of a ledger", "%s", err)
	}
	defer r.Close() //nolint:errcheck // only read
	if names, err := r.Chains(); err != nil || len(names) == 0 {
		return term.BadInput("name the folder of a ledger", "%s: no ledger", dir)
	}
	return nil
}

func (c *shipCommand) log() *slog.Logger {
	if c.json {
		return slog.New(slog.NewJSONHandler(c.env.Err, nil))
	}
	return slog.New(slog.NewTextHandler(c.env.Err, nil))
}

// progressEvery is the time between two lines about how much is left.
const progressEvery = 2 * time.Second

// await waits until all is shipped, and says from time to time how much is left.
func (c *shipCommand) await(ctx context.Context, s *ship.Shipper) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Wait(ctx)
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if now := s.Stats(); !c.json {
				fmt.Fprintf(c.env.Err, "%s shipped, %s wait\n", term.Count(now.Shipped, "entry", "entries"), term.Count(now.Waiting, "entry", "entries"))
			}
		}
	}
}

// end stops shipping and prints the result.
func (c *shipCommand) end(s *ship.Shipper, behind map[string]uint64) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what was to be waited for is over
	_, err := s.Close(ctx)
	stats := s.Stats()
	if c.json {
		if err := term.WriteJSONLine(c.env.Out, shipResult{stats, behind}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.env.Out, "%s shipped to %s as node %s\n", term.Count(stats.Shipped, "entry", "entries"), term.Printable(stats.Store), stats.Node)
	}
	if err != nil {
		return term.StoreError(err)
	}
	return c.verdict(stats, behind)
}

// verdict returns an error if something was not shipped.
func (c *shipCommand) verdict(stats ship.Stats, behind map[string]uint64) error {
	for _, name := range slices.Sorted(maps.Keys(stats.Problems)) {
		return &term.Error{Code: term.ExitFound, Text: "chain " + name + ": " + term.Printable(stats.Problems[name]), Hint: "candor ledger verify, and candor fleet verify"}
	}
	if c.once && stats.Waiting > 0 {
		return &term.Error{Code: term.ExitFound, Text: term.Count(stats.Waiting, "entry waits", "entries wait") + " for the store", Hint: cmp.Or(stats.Error, "run the command again")}
	}
	for _, name := range slices.Sorted(maps.Keys(behind)) {
		return &term.Error{
			Code: term.ExitFound,
			Text: fmt.Sprintf("chain %s: %s not shipped: no checkpoint covers them, so the server that wrote them was killed, and its chain is not recovered",
				name, term.Count(behind[name], "entry was", "entries were")),
			Hint: "start a server on the folder once, which recovers the chain, and run the command again",
		}
	}
	return nil
}
