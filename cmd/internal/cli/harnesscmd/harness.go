// Package harnesscmd has candor workbench harness.
package harnesscmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// harnessCommand has the flags of `candor workbench harness`.
type harnessCommand struct {
	bench.Server
	domains []string
	mcp     bool

	settings harness.Settings
	level    slog.LevelVar
}

// New returns `candor workbench harness`.
func New(env *term.Env) *cobra.Command {
	c := &harnessCommand{Server: bench.Server{Env: env}}
	cmd := &cobra.Command{
		Use:   "harness",
		Short: "Memory, files, SQL, Python, a browser and web search with one set of error codes",
		Long: `Serve groups of methods, called domains, as lines of JSON-RPC on standard input and output. The first line of output
says that the server is ready and lists the methods. Every error has a number, a domain, a symbol and retry advice. With --mcp
the methods are the tools of an MCP server, on standard input and output or with --listen over HTTP.

Domains are enabled with --domain or MCP_DOMAINS; the default is ` + strings.Join(harness.DefaultDomains(), " and ") + `. The domains are
` + strings.Join(harness.Names(), ", ") + `.
If the program or service of a domain is missing, its methods return E_NOT_INSTALLED and say what to install, and GET /healthz (see
MCP_HEALTH_PORT) names the domains that cannot work.

In an agent's configuration:

  {"mcpServers": {"harness": {
     "command": "candor",
     "args": ["workbench", "harness", "--mcp", "--domain", "kg", "--domain", "filesystem"]}}}

The variables are described in docs/harness.md. Exit codes: 0 end of input, client disconnected, Ctrl-C or SIGTERM; 1 the client did not
read its responses, or the counters or the ledger could not be written; 2 the server could not start, for example because a flag or a
variable is wrong.`,
		Example: `  candor workbench harness
  candor workbench harness --domain kg --domain python
  MCP_DOMAINS=all candor workbench harness --mcp`,
		Args: term.MaxArgs(0, "candor workbench harness"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.Register(cmd, "candor")
	cmd.Flags().StringArrayVar(&c.domains, "domain", nil, "domain to enable, or all; may be repeated")
	cmd.Flags().BoolVar(&c.mcp, "mcp", false, "serve MCP instead of lines of JSON-RPC")
	term.CompleteFlag(cmd, "domain", append([]string{"all"}, harness.Names()...))
	return cmd
}

func (c *harnessCommand) run(cmd *cobra.Command) (err error) {
	if err := c.checkFlags(cmd); err != nil {
		return err
	}
	if c.settings, err = harnessSettings(c.Env, c.domains); err != nil {
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

// checkFlags refuses flags that need --mcp.
func (c *harnessCommand) checkFlags(cmd *cobra.Command) error {
	if c.mcp {
		return nil
	}
	for _, name := range []string{"dialect", "listen", "token-env", "host", "exit-on-audit"} {
		if cmd.Flags().Changed(name) {
			return term.BadInput("add --mcp, or leave it out", "--%s: needs --mcp", name)
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
			return s, term.BadInput("see candor workbench harness --help", "--domain: %s", err)
		}
	}
	return s, nil
}

// open opens the domains. o has the options of line mode.
func (c *harnessCommand) open(state *workbench.State, counts *meter.Meter, o harness.Options) (*harness.Harness, error) {
	for _, name := range []string{"MCP_SQL_URL", "NOTION_TOKEN", "TAVILY_API_KEY", "GITHUB_TOKEN"} { // neither Python nor a browser gets them
		term.Withhold(name)
	}
	o.Settings, o.Meter, o.Level = c.settings, counts, &c.level
	o.Environment = domain.Environment{
		Getenv: c.Env.Getenv, State: state.Dir(), Guard: term.GuardCommand(), Logger: c.Log, Private: c.Private(c.Env, state),
	}
	h, err := harness.Open(o)
	if err != nil {
		return nil, term.BadInput("see docs/harness.md", "%s", err)
	}
	return h, nil
}

// serveMCP serves the domains as tools.
func (c *harnessCommand) serveMCP(cmd *cobra.Command) error {
	return c.Serve(cmd, harness.SystemName, func(state *workbench.State, counts *meter.Meter) (bench.System, error) {
		h, err := c.open(state, counts, harness.Options{})
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
	endpoint net.Listener // may be nil
}

// Start serves the health endpoint while the tools are served.
func (s *harnessSystem) Start(ctx context.Context, _ *workbench.Bench) {
	serveHealth(ctx, s.endpoint, s.Harness)
}

// serveLines serves the domains as lines of JSON-RPC.
func (c *harnessCommand) serveLines(cmd *cobra.Command) (err error) {
	c.Env.BackgroundStderr(c.Logs.JSONLogs)
	ctx, stop := term.StopContext(cmd)
	defer stop()
	state, err := c.OpenState(c.Env, harness.SystemName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	dir := c.LedgerDir(c.Env, state)
	counts, err := c.Meter(cmd, dir, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counts.Close()) }()
	served, end := c.StartTelemetry(harness.SystemName, counts)
	defer end()
	endShipping, err := c.StartShipping(ctx, state)
	if err != nil {
		return err
	}
	defer endShipping()
	trail, err := c.openLedger(dir, c.Log)
	if err != nil {
		return err
	}
	var o harness.Options
	if trail != nil {
		defer func() { err = errors.Join(err, trail.Close()) }()
		o.Recorder = trail
	}
	if served != nil {
		o.Tracer, o.Recorder = served, served.Ledger(o.Recorder)
	}
	h, err := c.open(state, counts, o)
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
	return h.Serve(ctx, c.Env.In, c.Env.Out.To)
}

// openLedger opens the ledger. It is nil for --ledger none.
func (c *harnessCommand) openLedger(dir string, log *slog.Logger) (*ledger.Ledger, error) {
	named := dir
	if named == "" {
		named = ledgerconfig.NoLedger
	}
	options, err := c.Logs.Keep.Options(named, harness.SystemName, c.Env.Getenv, log)
	if err != nil {
		return nil, err
	}
	trail, err := ledgerconfig.Ledger(named, c.Shipped(options), log)
	if err != nil {
		return nil, term.BadInput("name a folder that can be written with --ledger, or --ledger none", "%s", term.TrimHint(err))
	}
	return trail, nil
}

// healthTimeout bounds the time to send a request to the health endpoint.
const healthTimeout = 10 * time.Second

// listenHealth opens the port of the health endpoint. It is nil if no port is configured.
func (c *harnessCommand) listenHealth(cmd *cobra.Command) (net.Listener, error) {
	if c.settings.HealthPort < 0 {
		return nil, nil //nolint:nilnil // the endpoint is optional
	}
	listener, err := new(net.ListenConfig).Listen(cmd.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", c.settings.HealthPort))
	if err != nil {
		return nil, term.BadInput("choose another port, or 0 for any free one", "%s: %s", harness.EnvHealthPort, err)
	}
	c.Env.Notify(cmd, "health on http://"+listener.Addr().String()+"/healthz", "")
	return listener, nil
}

// serveHealth serves the health endpoint until ctx ends. A nil listener serves nothing.
func serveHealth(ctx context.Context, listener net.Listener, h *harness.Harness) {
	if listener == nil {
		return
	}
	server := &http.Server{
		Handler: h.HealthHandler(), ReadTimeout: healthTimeout, WriteTimeout: 2 * healthTimeout, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // the process is ending
	go func() { _ = server.Serve(listener) }()            // returns when the server is closed
}
