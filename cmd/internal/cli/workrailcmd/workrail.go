// Package workrailcmd has candor workbench workrail and the commands below it.
package workrailcmd

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
	"github.com/candor-mcp/candor/meter"
)

// workrailCommand holds the flags of `candor workbench workrail`.
type workrailCommand struct {
	bench.Server
	workflows string
	drill     bool
}

func New(env *term.Env) *cobra.Command {
	c := &workrailCommand{Server: bench.Server{W: env}}
	cmd := &cobra.Command{
		Use:   "workrail",
		Short: "Durable workflows: an agent is led step by step",
		Long: `Serve workflows over MCP, on standard input and output or with --listen over HTTP. A workflow is a file: steps,
loops and conditions, and what each step needs and must produce. An agent starts one, does one step at a time and continues with a
token. What it has done is recorded: after a crash, a compaction or in a new conversation it resumes at the same step.

In an agent's configuration:

  {"mcpServers": {"workflows": {
     "command": "candor",
     "args": ["workbench", "workrail", "--workflows", "/home/me/workflows"]}}}

Without --workflows only the examples are offered: bug-hunt, migration and release. The commands below are for the person who runs it;
they may be used while the server runs. Exit code 2: a flag or a file is wrong.`,
		Example: `  candor workbench workrail
  candor workbench workrail --workflows ~/workflows --listen 127.0.0.1:8080
  candor workbench workrail check ~/workflows/release.yaml
  candor workbench workrail sessions`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.Server.Register(cmd, "tool-error")
	cmd.Flags().StringVar(&c.workflows, "workflows", "", "a folder of workflow files (.yaml, .yml, .json)")
	cmd.Flags().BoolVar(&c.drill, "drill", false, "offer a tool that fails on request, to try a client")
	_ = cmd.MarkFlagDirname("workflows") // the flag is ours, so that marking it cannot fail
	cmd.AddCommand(newRailSessions(c.W), newRailShow(c.W), newRailExport(c.W), newRailDoctor(c.W), newRailGC(c.W), newRailCheck(c.W),
		newRailSchema(c.W), newRailKeys(c.W))
	return cmd
}

func (c *workrailCommand) run(cmd *cobra.Command) error {
	o := workrail.Options{Drill: c.drill}
	if c.workflows != "" {
		o.Workflows = term.AbsolutePath(c.workflows)
		if info, err := os.Stat(o.Workflows); err != nil || !info.IsDir() {
			return term.BadInput("name an existing folder with --workflows", "%s is not a folder", c.workflows)
		}
	}
	return c.Serve(cmd, "workrail", func(state *workbench.State, _ *meter.Meter) (bench.System, error) {
		o.State = state
		return workrail.New(o)
	})
}
