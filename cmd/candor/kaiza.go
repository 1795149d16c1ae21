package main

import (
	"errors"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/meter"
	"github.com/candor-mcp/candor/workbench"
	"github.com/candor-mcp/candor/workbench/kaiza"
	"github.com/candor-mcp/candor/workbench/policy"
	"github.com/candor-mcp/candor/workbench/preflight"
)

// kaizaCommand holds the flags of `candor workbench kaiza`.
type kaizaCommand struct {
	benchFlags
	logs        plugFlags
	w           *world
	dialect     string
	listen      string
	tokenEnv    string
	hosts       []string
	policy      string
	access      string
	hardLinks   bool
	drill       bool
	exitOnAudit bool
}

const (
	accessFull     = "full"
	accessReadOnly = "readonly"
)

func newKaiza(w *world) *cobra.Command {
	c := &kaizaCommand{w: w}
	cmd := &cobra.Command{
		Use:   "kaiza",
		Short: "A governed file workspace: plan, approval, execution",
		Long: `Serve a governed file workspace over MCP, on standard input and output or with --listen over HTTP. An agent
begins a session in a folder below --root, as planner or as executor (ANTIGRAVITY and WINDSURF in the KAIZA contract). The planner submits
plans, a person approves them with candor workbench approve, and the executor changes files within them. A broken rule
locks the session until a report is written; every call, change and refusal is in the trail.

In an agent's configuration:

  {"mcpServers": {"workspace": {
     "command": "candor",
     "args": ["workbench", "kaiza", "--root", "/home/me/projects"]}}}

The file that --policy names says what may not be written and which commands follow a change; it must lie outside the
root. Nothing outside a workspace is read or written, whatever a path, a link or a patch says.

The server audits itself at its start. If it finds a fault, every call is refused with SELF_AUDIT_FAILURE, or the command
ends with code 1 if --exit-on-audit is given. Exit code 2: a flag or a file is wrong.`,
		Example: `  candor workbench kaiza --root ~/projects
  candor workbench kaiza --root ~/projects --policy ~/kaiza.yaml --dialect candor
  candor workbench kaiza --root ~/projects --listen 127.0.0.1:8080
  candor ledger tail --ledger ~/.local/state/candor/workbench/kaiza/ledger`,
		Args: atMost(0, "candor workbench kaiza --root DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.register(cmd, "every workspace must be this folder or lie in it; default the working folder")
	flags := cmd.Flags()
	flags.StringVar(&c.dialect, "dialect", "system-error", "the shape of failures: "+joinWords(dialect.Names()))
	flags.StringVar(&c.listen, "listen", "", "serve over HTTP at this address instead of standard input and output")
	flags.StringVar(&c.tokenEnv, "token-env", "", "the environment variable that holds what clients must send as a bearer token")
	flags.StringArrayVar(&c.hosts, "host", nil, "a name that this server is known by over HTTP; may be repeated")
	flags.StringVar(&c.policy, "policy", "", "a file with content rules and with commands that follow a change")
	flags.StringVar(&c.access, "access", accessFull, "what sessions may do at most: full or readonly")
	flags.BoolVar(&c.hardLinks, "allow-hard-links", false, "let files be read that have a second name, which may lie outside")
	flags.BoolVar(&c.drill, "drill", false, "offer a tool that fails on request, to try a client")
	flags.BoolVar(&c.exitOnAudit, "exit-on-audit", false, "end with code 1 if the audit at the start finds a fault")
	c.logs.keep.register(cmd)
	flags.BoolVar(&c.logs.jsonLogs, "json-logs", false, "write each line on standard error as JSON")
	flags.BoolVar(&c.logs.quiet, "quiet", false, "write nothing but warnings on standard error")
	complete(cmd, "dialect", dialect.Names())
	complete(cmd, "access", []string{accessFull, accessReadOnly})
	return cmd
}

func (c *kaizaCommand) run(cmd *cobra.Command) (err error) {
	c.w.serveMode(c.logs.jsonLogs)
	ctx, stop := untilStopped(cmd)
	defer stop()
	o, err := c.options()
	if err != nil {
		return err
	}
	state, err := c.openState(c.w, "kaiza")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	k, err := c.system(state)
	if err != nil {
		return err
	}
	o.State, o.Ledger = state, c.trailDir(c.w, state)
	if o.Ledger != "" {
		o.Trail = c.logs.keep.Options(o.Ledger, "", c.w.getenv, o.Logger)
	}
	if o.Meter, err = c.meter(cmd, o.Ledger); err != nil {
		return err
	}
	b, err := workbench.Open(ctx, k.Describe(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if len(b.Findings()) > 0 && c.exitOnAudit {
		return &fault{code: exitFound, text: "the audit at the start found a fault: " + b.Findings()[0].ID + ": " + b.Findings()[0].Found}
	}
	k.Start(ctx, b)
	return listenOrServe(ctx, c.w, cmd, b, c.listen)
}

// options turns the flags into those of the workbench.
func (c *kaizaCommand) options() (o workbench.Options, err error) {
	if !contains(dialect.Names(), c.dialect) {
		return o, unknown("--dialect", c.dialect, dialect.Names())
	}
	if !contains([]string{accessFull, accessReadOnly}, c.access) {
		return o, unknown("--access", c.access, []string{accessFull, accessReadOnly})
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

func (c *kaizaCommand) system(state *workbench.State) (*kaiza.System, error) {
	root, err := c.rootDir()
	if err != nil {
		return nil, err
	}
	o := kaiza.Options{Root: root, State: state, ReadOnly: c.access == accessReadOnly,
		AllowHardLinks: c.hardLinks, Drill: c.drill, Preflight: preflight.Options{Self: guardLine()}}
	if c.policy != "" {
		data, err := os.ReadFile(c.policy)
		if err != nil {
			return nil, bad("check the name that --policy gives", "%s", err)
		}
		o.PolicyFile = absolute(c.policy)
		if o.Policy, err = policy.Load(c.policy, data); err != nil {
			return nil, &fault{code: exitBad, text: err.Error(), cause: err}
		}
	}
	return kaiza.New(o)
}

// meter makes the counters, with those of earlier lives if the environment wants them.
func (c *kaizaCommand) meter(cmd *cobra.Command, trail string) (*meter.Meter, error) {
	if trail == "" {
		trail = plug.NoLedger
	}
	counts, err := plug.Meter(orBackground(cmd.Context()), trail, c.w.getenv, c.logs.logger(c.w.err))
	if err != nil {
		return nil, bad("see docs/meter.md", "%s", err)
	}
	if counts != nil {
		return counts, nil
	}
	return meter.New(meter.Options{})
}
