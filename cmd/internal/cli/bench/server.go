package bench

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/meter"
)

// Server holds the flags of every command that serves a system of the workbench.
type Server struct {
	StateFlags
	Logs        service.Flags
	W           *term.Env
	dialect     string
	listen      string
	tokenEnv    string
	hosts       []string
	exitOnAudit bool
	HideStats   bool   // sys/errorStats is not offered
	Started     bool   // it has begun to serve; what goes wrong from then on is not a fault of usage
	Exported    string // file in the state folder for the last counters if the environment names none; "" for none
}

// System is a system that can be served.
type System interface {
	Describe() workbench.System
	Start(ctx context.Context, b *workbench.Bench)
}

// Register adds the flags. The system speaks a dialect of its own unless told otherwise.
func (c *Server) Register(cmd *cobra.Command, own string) {
	c.RegisterState(cmd)
	flags := cmd.Flags()
	flags.StringVar(&c.dialect, "dialect", own, "the shape of failures: "+term.JoinWords(dialect.Names()))
	flags.StringVar(&c.listen, "listen", "", "serve over HTTP at this address instead of standard input and output")
	flags.StringVar(&c.tokenEnv, "token-env", "", "the environment variable that holds what clients must send as a bearer token")
	flags.StringArrayVar(&c.hosts, "host", nil, "a name that this server is known by over HTTP; may be repeated")
	flags.BoolVar(&c.exitOnAudit, "exit-on-audit", false, "end with code 1 if the audit at the start finds a fault")
	c.Logs.Keep.Register(cmd)
	flags.BoolVar(&c.Logs.JSONLogs, "json-logs", false, "write each line on standard error as JSON")
	flags.BoolVar(&c.Logs.Quiet, "quiet", false, "write nothing but warnings on standard error")
	term.CompleteFlag(cmd, "dialect", dialect.Names())
}

// Serve opens the state of a system and serves it until its client leaves.
func (c *Server) Serve(cmd *cobra.Command, name string, open func(*workbench.State, *meter.Meter) (System, error)) (err error) {
	c.W.BackgroundStderr(c.Logs.JSONLogs)
	ctx, stop := term.StopContext(cmd)
	defer stop()
	o, err := c.options()
	if err != nil {
		return err
	}
	state, err := c.OpenState(c.W, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	o.State, o.Ledger = state, c.TrailDir(c.W, state)
	if o.Ledger != "" {
		o.Trail = c.Logs.Keep.Options(o.Ledger, "", c.W.Getenv, o.Logger)
	}
	counts, err := c.Meter(cmd, o.Ledger, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counts.Close()) }()
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
		return &term.Error{Code: term.ExitFound, Text: "the audit at the start found a fault: " + b.Findings()[0].ID + ": " + b.Findings()[0].Found}
	}
	c.Started = true
	s.Start(ctx, b)
	return listenOrServe(ctx, c.W, cmd, b, c.listen)
}

// countOnly is a meter that counts and offers no sys/errorStats.
type countOnly struct{ boundary.Meter }

// options turns the flags into those of the workbench.
func (c *Server) options() (o workbench.Options, err error) {
	if !term.ContainsFold(dialect.Names(), c.dialect) {
		return o, term.Unknown("--dialect", c.dialect, dialect.Names())
	}
	if o.Dialect, err = dialect.Lookup(c.dialect); err != nil {
		return o, err
	}
	if c.tokenEnv != "" {
		if o.Token = c.W.Getenv(c.tokenEnv); o.Token == "" {
			return o, term.BadInput("export "+c.tokenEnv+" before the start", "--token-env: %s is not set", c.tokenEnv)
		}
	}
	if c.listen != "" {
		if err := term.CheckListen(c.listen, o.Token); err != nil {
			return o, err
		}
	}
	o.Hosts, o.Logger, o.Version = c.hosts, c.Logs.Logger(c.W.Err), term.ReadBuildInfo(debug.ReadBuildInfo()).Version
	o.Stack, err = stackPolicy(c.W)
	return o, err
}

// Meter makes the counters, with those of earlier lives if the environment wants them.
func (c *Server) Meter(cmd *cobra.Command, trail string, state *workbench.State) (*meter.Meter, error) {
	if trail == "" {
		trail = plug.NoLedger
	}
	getenv := func(name string) string {
		value := c.W.Getenv(name)
		if name == meter.EnvFile && value == "" && c.Exported != "" {
			return filepath.Join(state.Dir(), c.Exported)
		}
		return value
	}
	counts, err := plug.Meter(term.Context(cmd.Context()), trail, getenv, c.Logs.Logger(c.W.Err))
	if err != nil {
		return nil, term.BadInput("see docs/meter.md", "%s", err)
	}
	if counts != nil {
		return counts, nil
	}
	return meter.New(meter.Options{})
}
