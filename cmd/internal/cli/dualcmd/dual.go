// Package dualcmd has candor workbench dual and the commands below it.
package dualcmd

import (
	"cmp"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/meter"
)

// dualCommand has the flags of `candor workbench dual`.
type dualCommand struct {
	bench.Server
	access    dual.Access
	upstreams string
	costs     []string
	lockWait  time.Duration
	dbWait    time.Duration
	maxDB     string
	drill     bool
}

// New returns `candor workbench dual`.
func New(env *term.Env) *cobra.Command {
	c := &dualCommand{Server: bench.Server{Env: env}}
	cmd := &cobra.Command{
		Use:   "dual",
		Short: "Tasks, thought records and attestations behind a dual envelope",
		Long: `Serve tasks, thought records and attestations over MCP, on standard input and output or with --listen over HTTP. An agent moves tasks
through a state machine, records the reasons for its actions, and closes audit sessions with a Merkle root. Agents vote in rounds, have a
reputation computed from their actions, and call tools of other servers through a router.

In an agent's configuration:

  {"mcpServers": {"tasks": {"command": "candor", "args": ["workbench", "dual"]}}}

Failures have two formats on purpose: some tools return an error, others a success with the failure as data. --dialect dual-unified uses
one format for both. See docs/dual.md.

With --access readonly only tools that change nothing can be called, with minimal only server_ping and server_health. All other calls are
refused and recorded as denied.

The router calls the servers in the file of --upstreams, a configuration of candor gateway, with the gateway's policies: deadlines, retries,
circuit breaker. Exit code 2: a flag or a file is wrong.`,
		Example: `  candor workbench dual
  candor workbench dual --dialect dual-unified --listen 127.0.0.1:8080
  candor workbench dual --access readonly
  candor workbench dual --upstreams candor.yaml --cost big=0.02
  candor workbench dual verify`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.Server.Register(cmd, "dual")
	flags := cmd.Flags()
	term.Choice(cmd, &c.access, "access", dual.AccessFull, "tools that can be called: "+term.JoinWords(term.Strings(dual.Accesses())), dual.Accesses())
	flags.StringVar(&c.upstreams, "upstreams", "", "configuration file of candor gateway with the servers of the router")
	flags.StringArrayVar(&c.costs, "cost", nil, "cost of a call to an upstream, as NAME=NUMBER; may be repeated")
	flags.DurationVar(&c.lockWait, "lock-wait", 5*time.Second, "maximum wait for another call of the same tool")
	flags.DurationVar(&c.dbWait, "db-wait", 2*time.Second, "maximum wait for the database")
	flags.StringVar(&c.maxDB, "max-db", "1GiB", "maximum size of the database")
	flags.BoolVar(&c.drill, "drill", false, "offer a tool that fails on request, to test a client")
	_ = cmd.MarkFlagFilename("upstreams") // fails only for an unknown flag
	cmd.AddCommand(newVerify(env), newSessions(env), newExport(env))
	return cmd
}

func (c *dualCommand) run(cmd *cobra.Command) (err error) {
	o, err := c.dualOptions()
	if err != nil {
		return err
	}
	upstreams := &dualUpstreams{}
	defer func() { err = errors.Join(err, upstreams.close()) }()
	return c.Serve(cmd, "dual", func(state *workbench.State, _ *meter.Meter) (bench.System, error) {
		o.State = state
		if upstreams, o.Upstreams, err = c.openUpstreams(cmd, state); err != nil {
			return nil, err
		}
		s, err := dual.New(cmd.Context(), o)
		if err != nil {
			return nil, startError(err)
		}
		return s, nil
	})
}

// startError adds the next step to an error of opening the system.
func startError(err error) *term.Error {
	if errors.Is(err, store.ErrBusy) {
		return term.BadInput("try again, or wait longer with --db-wait", "another process holds the database: %s", term.TrimHint(err))
	}
	text, hint := term.SplitHint(err)
	return term.BadInput(cmp.Or(hint, "name another folder with --state"), "%s", text)
}

// dualOptions returns the options of the system for the flags.
func (c *dualCommand) dualOptions() (o dual.Options, err error) {
	o = dual.Options{Access: c.access, LockWait: c.lockWait, Drill: c.drill, Version: term.ReadBuildInfo().Version, Database: store.Options{Wait: c.dbWait}}
	if c.lockWait <= 0 || c.dbWait <= 0 {
		return o, term.BadInput("a duration such as 500ms or 5s", "--lock-wait and --db-wait: must be longer than 0")
	}
	size, err := config.ParseSize(c.maxDB)
	if err != nil {
		return o, service.BadFlag("--max-db", err)
	}
	o.Database.MaxBytes = int64(size)
	return o, nil
}
