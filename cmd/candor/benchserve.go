package main

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/meter"
)

// benchServer holds the flags of every command that serves a system of the workbench.
type benchServer struct {
	benchFlags
	logs        plugFlags
	w           *world
	dialect     string
	listen      string
	tokenEnv    string
	hosts       []string
	exitOnAudit bool
	hideStats   bool   // sys/errorStats is not offered
	started     bool   // it has begun to serve; what goes wrong from then on is not a fault of usage
	exported    string // file in the state folder for the last counters if the environment names none; "" for none
}

// benchSystem is a system that can be served.
type benchSystem interface {
	Describe() workbench.System
	Start(ctx context.Context, b *workbench.Bench)
}

// register adds the flags. The system speaks a dialect of its own unless told otherwise.
func (c *benchServer) register(cmd *cobra.Command, own string) {
	c.registerState(cmd)
	flags := cmd.Flags()
	flags.StringVar(&c.dialect, "dialect", own, "the shape of failures: "+joinWords(dialect.Names()))
	flags.StringVar(&c.listen, "listen", "", "serve over HTTP at this address instead of standard input and output")
	flags.StringVar(&c.tokenEnv, "token-env", "", "the environment variable that holds what clients must send as a bearer token")
	flags.StringArrayVar(&c.hosts, "host", nil, "a name that this server is known by over HTTP; may be repeated")
	flags.BoolVar(&c.exitOnAudit, "exit-on-audit", false, "end with code 1 if the audit at the start finds a fault")
	c.logs.keep.register(cmd)
	flags.BoolVar(&c.logs.jsonLogs, "json-logs", false, "write each line on standard error as JSON")
	flags.BoolVar(&c.logs.quiet, "quiet", false, "write nothing but warnings on standard error")
	complete(cmd, "dialect", dialect.Names())
}

// serve opens the state of a system and serves it until its client leaves.
func (c *benchServer) serve(cmd *cobra.Command, name string, open func(*workbench.State, *meter.Meter) (benchSystem, error)) (err error) {
	c.w.serveMode(c.logs.jsonLogs)
	ctx, stop := untilStopped(cmd)
	defer stop()
	o, err := c.options()
	if err != nil {
		return err
	}
	state, err := c.openState(c.w, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	o.State, o.Ledger = state, c.trailDir(c.w, state)
	if o.Ledger != "" {
		o.Trail = c.logs.keep.Options(o.Ledger, "", c.w.getenv, o.Logger)
	}
	counts, err := c.meter(cmd, o.Ledger, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counts.Close()) }()
	if o.Meter = counts; c.hideStats {
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
		return &fault{code: exitFound, text: "the audit at the start found a fault: " + b.Findings()[0].ID + ": " + b.Findings()[0].Found}
	}
	c.started = true
	s.Start(ctx, b)
	return listenOrServe(ctx, c.w, cmd, b, c.listen)
}

// countOnly is a meter that counts and offers no sys/errorStats.
type countOnly struct{ boundary.Meter }

// options turns the flags into those of the workbench.
func (c *benchServer) options() (o workbench.Options, err error) {
	if !contains(dialect.Names(), c.dialect) {
		return o, unknown("--dialect", c.dialect, dialect.Names())
	}
	if o.Dialect, err = dialect.Lookup(c.dialect); err != nil {
		return o, err
	}
	if c.tokenEnv != "" {
		if o.Token = c.w.getenv(c.tokenEnv); o.Token == "" {
			return o, bad("export "+c.tokenEnv+" before the start", "--token-env: %s is not set", c.tokenEnv)
		}
	}
	if c.listen != "" {
		if err := checkReach(c.listen, o.Token); err != nil {
			return o, err
		}
	}
	o.Hosts, o.Logger, o.Version = c.hosts, c.logs.logger(c.w.err), builtFrom(debug.ReadBuildInfo()).Version
	o.Stack, err = stackPolicy(c.w)
	return o, err
}

// meter makes the counters, with those of earlier lives if the environment wants them.
func (c *benchServer) meter(cmd *cobra.Command, trail string, state *workbench.State) (*meter.Meter, error) {
	if trail == "" {
		trail = plug.NoLedger
	}
	getenv := func(name string) string {
		value := c.w.getenv(name)
		if name == meter.EnvFile && value == "" && c.exported != "" {
			return filepath.Join(state.Dir(), c.exported)
		}
		return value
	}
	counts, err := plug.Meter(orBackground(cmd.Context()), trail, getenv, c.logs.logger(c.w.err))
	if err != nil {
		return nil, bad("see docs/meter.md", "%s", err)
	}
	if counts != nil {
		return counts, nil
	}
	return meter.New(meter.Options{})
}
