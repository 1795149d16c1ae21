package ledgercmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/copier"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
)

// shipCommand has the flags of `candor fleet ship`.
type shipCommand struct {
	command
	once bool
	wait time.Duration
}

func newFleetShip(shared command) *cobra.Command {
	c := &shipCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "ship DIR URL",
		Short: "Ship a ledger folder to a store",
		Long: `Ship the ledger in the folder DIR to the store at URL, until the command is stopped: for servers that do not ship their
ledger themselves, such as a Go server with package serve. The servers of candor ship their own: give them the URL with --ledger.
Lines of a running server are shipped when a checkpoint covers them, which takes about a second.

Exit codes: 0 done; 1 a chain of the folder and its copy in the store do not fit, or entries still wait; 2 an error.`,
		Example: `  candor fleet ship /var/lib/app/ledger file:/srv/fleet?node=app-1
  candor-cluster fleet ship /var/lib/app/ledger 'nats://nats-1:4222?node=app-1&creds=app-1.creds'
  candor fleet ship --once --json ledger file:/srv/fleet`,
		Args: twoArgs("a folder and the URL of a store", "such as candor fleet ship DIR file:/srv/fleet"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args[0], args[1]) },
	}
	cmd.Flags().BoolVar(&c.once, "once", false, "end when the store has all entries of the folder")
	cmd.Flags().DurationVar(&c.wait, "wait", time.Minute, "with --once: end after this time although entries wait")
	c.registerJSON(cmd, oneObject+" at the end, and log as JSON lines")
	return cmd
}

func (c *shipCommand) run(dir, url string) error {
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
	r, err := c.reader([]string{dir}) // a folder with a mistyped name would be shipped as an empty one
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	ctx, stop := term.StopContext(c.cmd)
	defer stop()
	s, err := service.Ship(ctx, c.env, dir, &at, c.log())
	if err != nil {
		return err
	}
	if !c.once {
		<-ctx.Done()
		return c.end(s, r)
	}
	limited, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	c.await(limited, s)
	return c.end(s, r)
}

// shipResult is the output of --json.
type shipResult struct {
	ship.Stats
	Pending uint64 `json:"pending,omitempty"` // entries that no checkpoint covers yet
}

func (c *shipCommand) log() *slog.Logger {
	if c.json {
		return slog.New(slog.NewJSONHandler(c.env.Err, nil))
	}
	return slog.New(slog.NewTextHandler(c.env.Err, nil))
}

// progressEvery is the time between two lines about how much is left.
const progressEvery = 2 * time.Second

// await waits until all is shipped, and prints from time to time how much is left.
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
				fmt.Fprintf(c.env.Err, "%s shipped, %s wait\n", plural.Count(now.Shipped, "entry", "entries"), plural.Count(now.Waiting, "entry", "entries"))
			}
		}
	}
}

// end stops shipping and prints the result.
func (c *shipCommand) end(s *ship.Shipper, r *ledger.Reader) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what was to be waited for is over
	_, err := s.Close(ctx)
	stats := s.Stats()
	c.say("%s shipped to %s as node %s\n", plural.Count(stats.Shipped, "entry", "entries"), term.Printable(stats.Store), stats.Node)
	pending, failed := copier.Pending(context.Background(), r)
	if printed := c.finish(shipResult{stats, pending}, true); printed != nil {
		return printed
	}
	if err = errors.Join(err, failed); err != nil {
		return term.StoreError(err)
	}
	c.notifyPending(pending, "shipped")
	return c.verdict(stats)
}

// verdict returns an error if something was not shipped.
func (c *shipCommand) verdict(stats ship.Stats) error {
	for _, name := range slices.Sorted(maps.Keys(stats.Problems)) {
		return &term.Error{Code: term.ExitFound, Text: "chain " + name + ": " + term.Printable(stats.Problems[name]), Hint: "candor ledger verify, and candor ledger verify"}
	}
	if c.once && stats.Waiting > 0 {
		return &term.Error{Code: term.ExitFound, Text: plural.Count(stats.Waiting, "entry waits", "entries wait") + " for the store", Hint: cmp.Or(stats.Error, "run the command again")}
	}
	return nil
}
