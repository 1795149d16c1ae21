// Package workrailcmd has candor workbench workrail and the commands below it.
package workrailcmd

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
	"github.com/candor-mcp/candor/meter"
)

// workrailCommand has the flags of `candor workbench workrail`.
type workrailCommand struct {
	bench.Server
	workflows string
	drill     bool
}

// New returns `candor workbench workrail`.
func New(env *term.Env) *cobra.Command {
	c := &workrailCommand{Server: bench.Server{Env: env}}
	cmd := &cobra.Command{
		Use:   "workrail",
		Short: "Durable workflows that lead an agent step by step",
		Long: `Serve workflows over MCP, on standard input and output or with --listen over HTTP. A workflow is a file with
steps, loops and conditions, and the input and output of each step. An agent starts a workflow, does one step at a time and continues
with a token. Its progress is recorded: after a crash, a compaction or in a new conversation it resumes at the same step.

In an agent's configuration:

  {"mcpServers": {"workflows": {
     "command": "candor",
     "args": ["workbench", "workrail", "--workflows", "/home/me/workflows"]}}}

A question that only a person can answer is asked in the client if it offers elicitation, or else answered with candor workbench
workrail answer. Without --workflows only the examples are available: bug-hunt, migration and release. Exit code 2: a flag or a file is wrong.`,
		Example: `  candor workbench workrail
  candor workbench workrail --workflows ~/workflows --listen 127.0.0.1:8080
  candor workbench workrail check ~/workflows/release.yaml`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.Server.Register(cmd, "tool-error")
	cmd.Flags().StringVar(&c.workflows, "workflows", "", "folder of workflow files (.yaml, .yml, .json)")
	cmd.Flags().BoolVar(&c.drill, "drill", false, "offer a tool that fails on request, to test a client")
	_ = cmd.MarkFlagDirname("workflows") // fails only for an unknown flag
	cmd.AddCommand(newAnswer(c.Env), newCheck(c.Env), newSchema(c.Env))
	return cmd
}

func (c *workrailCommand) run(cmd *cobra.Command) error {
	o := workrail.Options{Drill: c.drill, AnswerFlags: c.Given()}
	if c.workflows != "" {
		o.Workflows = term.AbsolutePath(c.workflows)
		if err := bench.RequireFolder("--workflows", o.Workflows, "name an existing folder"); err != nil {
			return err
		}
	}
	return c.Serve(cmd, "workrail", func(state *workbench.State, _ *meter.Meter) (bench.System, error) {
		o.State = state
		return workrail.New(o)
	})
}
