package bench

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/cmd/internal/telemetry"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/stacks"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// Server has the flags of a command that serves a system of the workbench.
type Server struct {
	StateFlags
	Logs        service.Flags
	Env         *term.Env
	Log         *slog.Logger // for the operator; set by StartTelemetry
	dialect     string
	listen      string
	tokenEnv    string
	hosts       []string
	exitOnAudit bool
	ship        *ship.Shipper // nil if the ledger is not shipped
	HideStats   bool          // do not offer sys/errorStats
	Started     bool          // serving has begun; later errors are not usage errors
	Exported    string        // default file for the final counters, in the state folder; "" for none
}

// System is a system of the workbench.
type System interface {
	Describe() workbench.System
	Start(ctx context.Context, b *workbench.Bench)
}

// Register adds the flags. own is the default of --dialect.
func (c *Server) Register(cmd *cobra.Command, own string) {
	c.RegisterState(cmd)
	flags := cmd.Flags()
	term.Choice(cmd, &c.dialect, "dialect", own, "format of failures: "+term.JoinWords(dialect.Names()), dialect.Names())
	flags.StringVar(&c.listen, "listen", "", "serve over HTTP at this address instead of on standard input and output")
	flags.StringVar(&c.tokenEnv, "token-env", "", "environment variable with the bearer token that clients must send")
	flags.StringArrayVar(&c.hosts, "host", nil, "host name that HTTP clients may use; may be repeated")
	flags.BoolVar(&c.exitOnAudit, "exit-on-audit", false, "exit with code 1 if the self-audit at the start fails")
	c.Logs.Keep.Register(cmd)
	flags.BoolVar(&c.Logs.JSONLogs, "json-logs", false, "write standard error as JSON lines")
	flags.BoolVar(&c.Logs.Quiet, "quiet", false, "log only warnings")
}

// Serve opens the state of a system and serves it until the client disconnects or the command is stopped.
func (c *Server) Serve(cmd *cobra.Command, name string, open func(*workbench.State, *meter.Meter) (System, error)) (err error) {
	c.Env.BackgroundStderr(c.Logs.JSONLogs)
	ctx, stop := term.StopContext(cmd)
	defer stop()
	o, err := c.options()
	if err != nil {
		return err
	}
	state, err := c.OpenState(c.Env, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	o.State, o.Ledger = state, c.LedgerDir(c.Env, state)
	counts, err := c.Meter(cmd, o.Ledger, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counts.Close()) }()
	served, end := c.StartTelemetry(name, counts)
	defer end()
	if o.Logger = c.Log; served != nil {
		o.Telemetry = served
	}
	if o.Ledger != "" {
		if o.Trail, err = c.Logs.Keep.Options(o.Ledger, "", c.Env.Getenv, o.Logger); err != nil {
			return err
		}
		end, err := c.StartShipping(ctx, state)
		if err != nil {
			return err
		}
		defer end()
		o.Trail = c.Shipped(o.Trail)
	}
	if o.Meter = counts; c.HideStats {
		o.Meter = countOnly{counts}
	}
	s, err := open(state, counts)
	if err != nil {
		return err
	}
	b, err := workbench.Open(ctx, s.Describe(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if len(b.Findings()) > 0 && c.exitOnAudit {
		return &term.Error{Code: term.ExitFound, Text: "self-audit failed: " + b.Findings()[0].ID + ": " + b.Findings()[0].Found}
	}
	c.Started = true
	s.Start(ctx, b)
	return listenOrServe(ctx, c.Env, cmd, b, c.listen)
}

// StartShipping starts to ship the ledger, if --ledger names a store. Call end after the ledger is closed.
func (c *Server) StartShipping(ctx context.Context, state *workbench.State) (end func(), err error) {
	dir, at := c.LedgerPlace(c.Env, state)
	if c.ship, err = service.Ship(ctx, c.Env, dir, at, c.Log); err != nil {
		return nil, err
	}
	return func() {
		left, err := service.EndShipping(c.ship, dir)
		if left != "" || err != nil {
			c.Log.Warn("the ledger was not shipped completely", slog.String("waiting", left), slog.Any("error", err))
		}
	}, nil
}

// Shipped returns the options for a ledger in the folder that is shipped, if it is.
func (c *Server) Shipped(o ledger.Options) ledger.Options {
	if c.ship == nil {
		return o
	}
	return c.ship.Options(o)
}

// StartTelemetry sets Log, and starts the export that the environment asks for. The result is nil if it asks for none. Call end after
// the last call.
func (c *Server) StartTelemetry(name string, counts *meter.Meter) (served *telemetry.Served, end func()) {
	transport := "pipe"
	if c.listen != "" {
		transport = "tcp"
	}
	var export *telemetry.Export
	if export, c.Log = service.StartExport(c.Env, transport, counts, c.Logs.Logger(c.Env.Err)); export == nil {
		return nil, func() {}
	}
	return telemetry.NewServed(name, &telemetry.Observer{Export: export}), export.Shutdown
}

// countOnly hides the statistics of a meter, so that sys/errorStats is not offered.
type countOnly struct{ candor.Meter }

// options returns the workbench options for the flags.
func (c *Server) options() (o workbench.Options, err error) {
	o.Dialect = dialect.Must(c.dialect)
	if o.Token, err = c.Env.Secret("--token-env", c.tokenEnv); err != nil {
		return o, err
	}
	if c.listen != "" {
		if err := term.CheckListen(c.listen, o.Token); err != nil {
			return o, err
		}
	}
	o.Hosts, o.Version = c.hosts, term.ReadBuildInfo().Version
	o.Stack, err = stackPolicy(c.Env)
	stacks.Captured.Store(o.Stack.Wanted())
	return o, err
}

// Meter returns the counters of a server, see [service.OpenMeter].
func (c *Server) Meter(cmd *cobra.Command, trail string, state *workbench.State) (*meter.Meter, error) {
	if trail == "" {
		trail = ledgerconfig.NoLedger
	}
	getenv := func(name string) string {
		value := c.Env.Getenv(name)
		if name == "MCP_ERROR_METRICS_FILE" && value == "" && c.Exported != "" {
			return filepath.Join(state.Dir(), c.Exported)
		}
		return value
	}
	return service.OpenMeter(cmd.Context(), trail, getenv, c.Logs.Logger(c.Env.Err))
}
