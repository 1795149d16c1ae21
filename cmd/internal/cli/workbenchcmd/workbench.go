// Package workbenchcmd has candor workbench, and below it kaiza and the commands of the person who operates kaiza.
package workbenchcmd

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/dualcmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/harnesscmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/cli/workrailcmd"
)

func New(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workbench SYSTEM",
		Short: "Run a reference server, really working",
		Long: `Run one of the reference servers. Each is a useful MCP server in its own right, and shows what the contract
means: every failure is typed, recorded before it is sent, counted, and can be proven.

  kaiza     a governed file workspace: one role plans, a person approves, another role executes
  workrail  durable workflows: an agent is led step by step, and goes on after any interruption
  harness   memory, files, SQL, Python, a browser and web search behind one taxonomy of errors
  dual      tasks, thought records and attestations, with failures in two shapes

The person who approves the plans of kaiza uses:

  candor workbench plans             list them
  candor workbench approve PLAN      see what a plan changes, and approve it
  candor workbench revoke PLAN       take an approval back

What was changed is listed and undone with:

  candor workbench changes           list the changes of files, the newest first
  candor workbench undo [ID]         put the files of a change back as they were

A session that is locked because a rule was broken is freed with:

  candor workbench unlock            list the locked sessions, and unlock one

The workflows of workrail are looked after with:

  candor workbench workrail sessions list what is running, where it stands and why it is blocked
  candor workbench workrail doctor   check the health of all sessions, and repair what can be repaired
  candor workbench workrail check    check workflow files

What dual has recorded is looked at with:

  candor workbench dual tasks        list the tasks; sessions and rounds list the others
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
