// Package workbenchcmd has candor workbench, candor workbench kaiza and the commands for the operator of kaiza.
package workbenchcmd

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/dualcmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/harnesscmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/cli/workrailcmd"
)

// New returns `candor workbench`.
func New(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workbench SYSTEM",
		Short: "Run a built-in example server",
		Long: `Run one of the example servers. Each is a useful MCP server that follows the contract: every failure is typed,
recorded before it is sent, counted, and can be proven.

  kaiza     a governed file workspace: one role plans, a person approves, another role executes
  workrail  durable workflows: an agent does one step at a time and resumes after any interruption
  harness   memory, files, SQL, Python, a browser and web search with one set of error codes
  dual      tasks, thought records and attestations, with failures in two formats

To review plans of kaiza:

  candor workbench plans             list the plans
  candor workbench approve PLAN      show what a plan changes, and approve it
  candor workbench revoke PLAN       revoke an approval

To list and undo changes of files:

  candor workbench changes           list the changes, the newest first
  candor workbench undo [ID]         undo a change

To unlock a session that is locked because it broke a rule:

  candor workbench unlock            list the locked sessions, and unlock one

To check the workflow files of workrail:

  candor workbench workrail check    list the problems of each file

To inspect the records of dual:

  candor workbench dual verify       check that no thought record was changed or removed
  candor workbench dual export TASK  write thought records with a proof for a third party`,
		Example: `  candor workbench kaiza --root ~/projects
  candor workbench approve 3f2a9c1d --root ~/projects/site`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKaiza(env), workrailcmd.New(env), harnesscmd.New(env), dualcmd.New(env), newPlans(env), newApprove(env), newRevoke(env), newChanges(env), newUndo(env), newUnlock(env))
	return cmd
}
