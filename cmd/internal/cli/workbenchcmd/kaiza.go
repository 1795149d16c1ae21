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

// kaizaCommand has the flags of `candor workbench kaiza`.
type kaizaCommand struct {
	bench.Server
	policy string
	access string
	asks   string
	drill  bool
}

const (
	accessFull     = "full"
	accessReadOnly = "readonly"

	approveByCommand = "command"
	approveInClient  = "client"
)

func newKaiza(env *term.Env) *cobra.Command {
	c := &kaizaCommand{Server: bench.Server{Env: env}}
	cmd := &cobra.Command{
		Use:   "kaiza",
		Short: "A governed file workspace: plan, approval, execution",
		Long: `Serve a governed file workspace over MCP, on standard input and output or with --listen over HTTP. An agent
begins a session in a folder below --root, as planner or as executor (ANTIGRAVITY and WINDSURF in the KAIZA contract). The planner submits
plans, a person approves them with candor workbench approve, and the executor changes files within an approved plan. Breaking a rule
locks the session until a report is written. Every call, change and refusal is recorded in the ledger.

In an agent's configuration:

  {"mcpServers": {"workspace": {
     "command": "candor",
     "args": ["workbench", "kaiza", "--root", "/home/me/projects"]}}}

The file of --policy forbids contents and names commands that run after a change; it must be outside the root. Nothing outside
a workspace is read or written, not even through a link or a patch.

With DEBUG_STACK=true in the environment, failures have the member stack_trace. The server audits itself at the start. If the audit fails, every call is refused with SELF_AUDIT_FAILURE, or with --exit-on-audit the
command exits with code 1. Exit code 2: a flag or a file is wrong.`,
		Example: `  candor workbench kaiza --root ~/projects
  candor workbench kaiza --root ~/projects --policy ~/kaiza.yaml --dialect candor
  candor workbench kaiza --root ~/projects --listen 127.0.0.1:8080
  candor ledger tail --ledger ~/.local/state/candor/workbench/kaiza/ledger`,
		Args: term.MaxArgs(0, "candor workbench kaiza --root DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.RegisterRoot(cmd, "folder that contains all workspaces; default the working directory")
	c.Server.Register(cmd, "system-error")
	flags := cmd.Flags()
	flags.StringVar(&c.policy, "policy", "", "file with content rules and with commands that run after a change")
	term.Choice(cmd, &c.access, "access", accessFull, "access of sessions: full or readonly", []string{accessFull, accessReadOnly})
	term.Choice(cmd, &c.asks, "approvals", approveByCommand, "where a person approves plans: only by command, or also in a client that offers elicitation, which is trusted to ask a person",
		[]string{approveByCommand, approveInClient})
	flags.BoolVar(&c.drill, "drill", false, "offer a tool that fails on request, to test a client")
	return cmd
}

func (c *kaizaCommand) run(cmd *cobra.Command) error {
	return c.Serve(cmd, "kaiza", func(state *workbench.State, _ *meter.Meter) (bench.System, error) { return c.system(state) })
}

func (c *kaizaCommand) system(state *workbench.State) (*kaiza.System, error) {
	root, err := c.RootDir()
	if err != nil {
		return nil, err
	}
	o := kaiza.Options{Root: root, State: state, Private: c.Private(c.Env, state), ReadOnly: c.access == accessReadOnly,
		Flags: c.Given(), Command: func(command, workspace string) string {
			return command + " --root " + bench.ShellWord(workspace) + c.Command()
		}, AskClient: c.asks == approveInClient,
		Drill: c.drill, Preflight: preflight.Options{Self: term.GuardCommand()}}
	if c.policy != "" {
		data, err := os.ReadFile(c.policy)
		if err != nil {
			return nil, term.BadInput("check the file name after --policy", "%s", err)
		}
		o.PolicyFile = term.AbsolutePath(c.policy)
		if o.Policy, err = policy.Load(c.policy, data); err != nil {
			return nil, &term.Error{Code: term.ExitUsage, Text: err.Error(), Cause: err}
		}
	}
	return kaiza.New(o)
}
