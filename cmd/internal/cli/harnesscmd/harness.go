// Package harnesscmd has candor workbench harness and the commands below it.
package harnesscmd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// harnessCommand holds the flags of `candor workbench harness`.
type harnessCommand struct {
	bench.Server
	domains []string
	mcp     bool

	settings harness.Settings
	level    slog.LevelVar
}

func New(env *term.Env) *cobra.Command {
	c := &harnessCommand{Server: bench.Server{W: env}}
	cmd := &cobra.Command{
		Use:   "harness",
		Short: "Memory, files, SQL, Python, a browser and web search behind one taxonomy of errors",
		Long: `Serve domains of methods as lines of JSON-RPC on standard input and output. The first line that it writes says that
it is ready and lists the methods. Every error has a number, a domain, a symbol and whether a retry helps. With --mcp the same methods
are the tools of an MCP server, over standard input and output or with --listen over HTTP.

Domains are switched on with --domain or MCP_DOMAINS; the default is ` + strings.Join(harness.DefaultDomains(), " and ") + `. The domains are
` + strings.Join(harness.Names(), ", ") + `.
A domain whose program or service is missing answers E_NOT_INSTALLED with what to install; candor workbench harness domains lists all.

In an agent's configuration:

  {"mcpServers": {"harness": {
     "command": "candor",
     "args": ["workbench", "harness", "--mcp", "--domain", "kg", "--domain", "filesystem"]}}}

The variables are described in docs/harness.md. Exit codes: 0 if the input ended, the client left, or on Ctrl-C and SIGTERM; 1 if it ended
with work undone: the client did not read its responses, or the counters or the ledger could not be written; 2 if it could not start, for
example because a flag or a variable is wrong.`,
		Example: `  candor workbench harness
  candor workbench harness --domain kg --domain python
  MCP_DOMAINS=all candor workbench harness --mcp
  candor workbench harness domains`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.Register(cmd, "rpc")
	cmd.Flags().StringArrayVar(&c.domains, "domain", nil, "a domain to switch on, or all; may be repeated")
	cmd.Flags().BoolVar(&c.mcp, "mcp", false, "serve MCP instead of lines of JSON-RPC")
	term.CompleteFlag(cmd, "domain", append([]string{"all"}, harness.Names()...))
	cmd.AddCommand(newHarnessDomains(env))
	return cmd
}

func (c *harnessCommand) run(cmd *cobra.Command) (err error) {
	if err := c.checkFlags(cmd); err != nil {
		return err
	}
	if c.settings, err = harnessSettings(c.W, c.domains); err != nil {
		return err
	}
	if c.Logs.Quiet {
		c.level.Set(slog.LevelWarn)
	}
	c.Logs.Level = &c.level
	c.Exported, c.HideStats = "error-metrics.json", !c.settings.Metrics
	if c.mcp {
		err = c.serveMCP(cmd)
	} else {
		err = c.serveLines(cmd)
	}
	if c.Started {
		return term.Unfinished(err)
	}
	return err
}

// checkFlags refuses the flags that mean something in MCP mode only.
func (c *harnessCommand) checkFlags(cmd *cobra.Command) error {
	if c.mcp {
		return nil
	}
	for _, name := range []string{"dialect", "listen", "token-env", "host", "exit-on-audit"} {
		if cmd.Flags().Changed(name) {
			return term.BadInput("add --mcp, or leave it out", "--%s needs --mcp", name)
		}
	}
	return nil
}

// harnessSettings reads the environment; --domain takes precedence over MCP_DOMAINS.
func harnessSettings(env *term.Env, domains []string) (s harness.Settings, err error) {
	if s, err = harness.SettingsFromEnv(env.Getenv); err != nil {
		return s, term.BadInput("see docs/harness.md", "%s", err)
	}
	if len(domains) > 0 {
		if s.Domains, err = harness.SelectDomains(domains); err != nil {
			return s, term.BadInput("candor workbench harness domains lists them", "--domain: %s", err)
		}
	}
	return s, nil
}

// open opens the domains.
func (c *harnessCommand) open(state *workbench.State, counts *meter.Meter, log *slog.Logger, recorder harness.Recorder) (*harness.Harness, error) {
	h, err := harness.Open(harness.Options{
		Settings: c.settings, Meter: counts, Recorder: recorder, Level: &c.level,
		Environment: harness.Environment{Getenv: c.W.Getenv, State: state.Dir(), Guard: term.GuardCommand(), Logger: log},
	})
	if err != nil {
		return nil, term.BadInput("see docs/harness.md", "%s", err)
	}
	return h, nil
}

// serveMCP serves the domains as tools.
func (c *harnessCommand) serveMCP(cmd *cobra.Command) error {
	return c.Serve(cmd, harness.SystemName, func(state *workbench.State, counts *meter.Meter) (bench.System, error) {
		h, err := c.open(state, counts, c.Logs.Logger(c.W.Err), nil)
		if err != nil {
			return nil, err
		}
		endpoint, err := c.listenHealth(cmd)
		if err != nil {
			return nil, err
		}
		return &harnessSystem{h, endpoint}, nil
	})
}

// harnessSystem is a harness with its health endpoint.
type harnessSystem struct {
	*harness.Harness
	endpoint net.Listener // nil without one
}

// Start serves the health endpoint while the tools are served.
func (s *harnessSystem) Start(ctx context.Context, _ *workbench.Bench) {
	serveHealth(ctx, s.endpoint, s.Harness)
}

// serveLines serves the domains as lines of JSON-RPC.
func (c *harnessCommand) serveLines(cmd *cobra.Command) (err error) {
	c.W.BackgroundStderr(c.Logs.JSONLogs)
	ctx, stop := term.StopContext(cmd)
	defer stop()
	log := c.Logs.Logger(c.W.Err)
	state, err := c.OpenState(c.W, harness.SystemName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	dir := c.TrailDir(c.W, state)
	counts, err := c.Meter(cmd, dir, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counts.Close()) }()
	trail, err := c.openTrail(dir, log)
	if err != nil {
		return err
	}
	var recorder harness.Recorder
	if trail != nil {
		defer func() { err = errors.Join(err, trail.Close()) }()
		recorder = trail
	}
	h, err := c.open(state, counts, log, recorder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	endpoint, err := c.listenHealth(cmd)
	if err != nil {
		return err
	}
	serveHealth(ctx, endpoint, h)
	c.Started = true
	return h.Serve(ctx, c.W.In, c.W.Out.To)
}

// openTrail opens the ledger; nil without an error if there is to be none.
func (c *harnessCommand) openTrail(dir string, log *slog.Logger) (*ledger.Ledger, error) {
	named := dir
	if named == "" {
		named = plug.NoLedger
	}
	trail, err := plug.Ledger(named, c.Logs.Keep.Options(named, harness.SystemName, c.W.Getenv, log), log)
	if err != nil {
		return nil, term.BadInput("name a folder that can be written with --ledger, or --ledger none", "%s", term.TrimHint(err))
	}
	return trail, nil
}
