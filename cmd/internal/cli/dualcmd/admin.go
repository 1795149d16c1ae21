package dualcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/consensus"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/tasks"
)

// adminCommand has the fields that the commands below `candor workbench dual` share. They change nothing and can be used while the server runs.
type adminCommand struct {
	bench.Operator
}

func (c *adminCommand) register(cmd *cobra.Command) {
	c.Cmd = cmd
	c.RegisterState(cmd)
}

// with calls do with the opened state and a context that Ctrl-C cancels. A folder named by --state must exist.
func (c *adminCommand) with(do func(context.Context, *dual.Admin) error) (err error) {
	if err := c.RequireState(); err != nil {
		return err
	}
	dir, err := c.StateDir(c.Env, "dual")
	if err != nil {
		return err
	}
	state, err := workbench.OpenStateReadOnly(dir)
	if err != nil {
		return term.BadInput("name the folder of the server with --state", "%s", term.TrimHint(err))
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	ctx, stop := term.StopContext(c.Cmd)
	defer stop()
	admin, err := dual.OpenAdmin(ctx, state.Dir(), c.LedgerDir(c.Env, state))
	if err != nil {
		return term.BadInput("name the folder of the server with --state", "%s", term.TrimHint(err))
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	if err = do(ctx, admin); err != nil && ctx.Err() != nil {
		return term.BadInput("run the command again", "interrupted")
	}
	return err
}

// stateError adds the next step to an error of reading the state.
func stateError(err error) *term.Error {
	if damaged, ok := errors.AsType[*store.DamagedError](err); ok {
		return term.BadInput("restore the database from a backup", "%s", damaged)
	}
	return term.BadInput("try again; candor workbench dual verify checks the state", "%s", err)
}

func newTasks(env *term.Env) *cobra.Command {
	c := &adminCommand{Operator: bench.Operator{Env: env}}
	status := ""
	names := term.Strings(tasks.Statuses())
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List the tasks and their status",
		Long: `List the tasks in the order in which they were created: status, number of thought records, agent and title. The server may be running.
Exit code 1: a task cannot be read because its row is damaged.`,
		Example: `  candor workbench dual tasks
  candor workbench dual tasks --status VERIFY --json`,
		Args: term.MaxArgs(0, "candor workbench dual tasks"),
		RunE: func(*cobra.Command, []string) error {
			if status != "" && !term.ContainsFold(names, status) {
				return term.Unknown("--status", status, names)
			}
			only := tasks.Status(strings.ToUpper(status))
			return c.with(func(ctx context.Context, a *dual.Admin) error { return c.tasks(ctx, a, only) })
		},
	}
	c.register(cmd)
	c.RegisterJSON(cmd)
	cmd.Flags().StringVar(&status, "status", "", "only tasks in this status: "+term.JoinWords(names))
	term.CompleteFlag(cmd, "status", names)
	return cmd
}

func (c *adminCommand) tasks(ctx context.Context, a *dual.Admin, status tasks.Status) error {
	all, damaged, err := a.Tasks(ctx, status)
	if err != nil {
		return stateError(err)
	}
	if c.JSON {
		list := map[string]any{"tasks": all}
		if len(damaged) > 0 {
			list["damaged"] = damaged
		}
		err = term.WriteJSONLine(c.Env.Out, list)
	} else {
		c.writeTasks(all, damaged)
	}
	if err == nil && len(damaged) > 0 {
		return term.Found()
	}
	return err
}

func (c *adminCommand) writeTasks(all []dual.TaskInfo, damaged []store.DamagedError) {
	colors := c.Env.Colors()
	for i := range all {
		t := &all[i]
		fmt.Fprintf(c.Env.Out, "%s  %-9s  %s  %s  %s\n", colors.Name(t.ID), t.Status, recordCount(t.Records), cmp.Or(term.Printable(t.AgentID), "-"), term.Truncate(term.Printable(t.Title), 80))
	}
	for i := range damaged {
		fmt.Fprintln(c.Env.Out, colors.Bad("FAILED: "+term.Printable(damaged[i].Error())))
	}
	fmt.Fprintln(c.Env.Out, term.Count(uint64(len(all)), "task", "tasks"))
}

func recordCount(n int64) string { return term.Count(uint64(n), "record", "records") } //nolint:gosec // a count

func newSessions(env *term.Env) *cobra.Command {
	c := &adminCommand{Operator: bench.Operator{Env: env}}
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "List the audit sessions and their roots",
		Long:    `List the audit sessions, the newest first: open or finalised, the number of thought records, and the root. The server may be running.`,
		Example: `  candor workbench dual sessions`,
		Args:    term.MaxArgs(0, "candor workbench dual sessions"),
		RunE: func(*cobra.Command, []string) error {
			return c.with(c.sessions)
		},
	}
	c.register(cmd)
	c.RegisterJSON(cmd)
	return cmd
}

func (c *adminCommand) sessions(ctx context.Context, a *dual.Admin) error {
	all, err := a.Sessions(ctx)
	if err != nil {
		return stateError(err)
	}
	if c.JSON {
		return term.WriteJSONLine(c.Env.Out, map[string]any{"sessions": all})
	}
	colors := c.Env.Colors()
	for i := range all {
		s := &all[i]
		state, root := colors.Warn("open     "), ""
		if s.Finalized() {
			state, root = colors.Good("finalised"), "  root "+s.Root
		}
		fmt.Fprintf(c.Env.Out, "%s  %s  %s  begun %s%s\n", colors.Name(term.Printable(s.ID)), state, recordCount(s.Bound), s.BegunAt, root)
		if s.Ledger != nil {
			fmt.Fprintf(c.Env.Out, "    attested by ledger entry %s/%d\n", s.Ledger.Chain, s.Ledger.Seq)
		}
	}
	fmt.Fprintln(c.Env.Out, term.Count(uint64(len(all)), "session", "sessions"))
	return nil
}

func newRounds(env *term.Env) *cobra.Command {
	c := &adminCommand{Operator: bench.Operator{Env: env}}
	cmd := &cobra.Command{
		Use:   "rounds",
		Short: "List the rounds of votes",
		Long: `List the rounds in the order in which they were proposed: state, votes, quorum and topic, and the voters whose second, different
vote was refused. The server may be running.`,
		Example: `  candor workbench dual rounds`,
		Args:    term.MaxArgs(0, "candor workbench dual rounds"),
		RunE:    func(*cobra.Command, []string) error { return c.with(c.rounds) },
	}
	c.register(cmd)
	c.RegisterJSON(cmd)
	return cmd
}

func (c *adminCommand) rounds(ctx context.Context, a *dual.Admin) error {
	all, err := a.Rounds(ctx)
	if err != nil {
		return stateError(err)
	}
	if c.JSON {
		return term.WriteJSONLine(c.Env.Out, map[string]any{"rounds": all})
	}
	colors := c.Env.Colors()
	for i := range all {
		r := &all[i]
		state := fmt.Sprintf("%-8s", r.State)
		switch r.State {
		case consensus.Accepted:
			state = colors.Good(state)
		case consensus.Rejected:
			state = colors.Bad(state)
		case consensus.Open:
			state = colors.Warn(state)
		}
		fmt.Fprintf(c.Env.Out, "%s  %s  %d accept, %d reject, %d of %d needed  %s\n", colors.Name(r.ID[:16]), state, r.Accepted, r.Rejected, r.Quorum, len(r.Voters), term.Truncate(term.Printable(r.Topic), 80))
		for _, e := range r.Equivocations {
			fmt.Fprintf(c.Env.Out, "    %s  %s voted %s and then %s\n", colors.Bad("equivocation"), term.Printable(e.Voter), e.First, e.Attempted)
		}
	}
	fmt.Fprintln(c.Env.Out, term.Count(uint64(len(all)), "round", "rounds"))
	return nil
}
