package workbenchcmd

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
	"github.com/candor-mcp/candor/cmd/internal/workbench/policy"
	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/meter"
)

// kaizaCommand holds the flags of `candor workbench kaiza`.
type kaizaCommand struct {
	bench.Server
	policy    string
	access    string
	hardLinks bool
	drill     bool
}

const (
	accessFull     = "full"
	accessReadOnly = "readonly"
)

func newKaiza(env *term.Env) *cobra.Command {
	c := &kaizaCommand{Server: bench.Server{W: env}}
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
		Args: term.MaxArgs(0, "candor workbench kaiza --root DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.RegisterRoot(cmd, "every workspace must be this folder or lie in it; default the working folder")
	c.Server.Register(cmd, "system-error")
	flags := cmd.Flags()
	flags.StringVar(&c.policy, "policy", "", "a file with content rules and with commands that follow a change")
	flags.StringVar(&c.access, "access", accessFull, "what sessions may do at most: full or readonly")
	flags.BoolVar(&c.hardLinks, "allow-hard-links", false, "let files be read that have a second name, which may lie outside")
	flags.BoolVar(&c.drill, "drill", false, "offer a tool that fails on request, to try a client")
	term.CompleteFlag(cmd, "access", []string{accessFull, accessReadOnly})
	return cmd
}

func (c *kaizaCommand) run(cmd *cobra.Command) error {
	if !term.ContainsFold([]string{accessFull, accessReadOnly}, c.access) {
		return term.Unknown("--access", c.access, []string{accessFull, accessReadOnly})
	}
	return c.Serve(cmd, "kaiza", func(state *workbench.State, _ *meter.Meter) (bench.System, error) { return c.system(state) })
}

func (c *kaizaCommand) system(state *workbench.State) (*kaiza.System, error) {
	root, err := c.RootDir()
	if err != nil {
		return nil, err
	}
	o := kaiza.Options{Root: root, State: state, ReadOnly: c.access == accessReadOnly,
		AllowHardLinks: c.hardLinks, Drill: c.drill, Preflight: preflight.Options{Self: term.GuardCommand()}}
	if c.policy != "" {
		data, err := os.ReadFile(c.policy)
		if err != nil {
			return nil, term.BadInput("check the name that --policy gives", "%s", err)
		}
		o.PolicyFile = term.AbsolutePath(c.policy)
		if o.Policy, err = policy.Load(c.policy, data); err != nil {
			return nil, &term.Error{Code: term.ExitBad, Text: err.Error(), Cause: err}
		}
	}
	return kaiza.New(o)
}
