package workrailcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
	railsession "github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
)

// gcCommand has the flags of `candor workbench workrail gc`.
type gcCommand struct {
	adminCommand
	older     string
	completed bool
	dryRun    bool
}

func newGC(env *term.Env) *cobra.Command {
	c := &gcCommand{adminCommand: adminCommand{Operator: bench.Operator{Env: env}}}
	cmd := &cobra.Command{
		Use:   "gc [ID…]",
		Short: "Remove old sessions, and stored workflows that no session uses",
		Long: `Remove the sessions that have not changed for --older-than, completed or not, and the stored workflows that no remaining session
uses. The command lists them and asks for confirmation. With ids it removes these sessions whatever their state and age; damaged
sessions are removed only this way. Removal cannot be undone: save a session with candor workbench workrail export first.

A session that continues while the command runs is kept. Removals are recorded in the ledger. The server may be running.

Exit codes: 0 done, or nothing to remove; 1 not confirmed, or a session was kept because it is in use; 2 an error.`,
		Example: `  candor workbench workrail gc --dry-run
  candor workbench workrail gc --completed --older-than 7d --yes
  candor workbench workrail gc 3f2a9c1d`,
		ValidArgsFunction: c.completeSessions,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.with(func(a *workrail.Admin) error { return c.run(a, args) })
		},
	}
	c.register(cmd)
	c.registerYes(cmd)
	flags := cmd.Flags()
	flags.StringVar(&c.older, "older-than", "90d", "minimum time since the last change, such as 12h or 30d")
	flags.BoolVar(&c.completed, "completed", false, "only completed sessions")
	flags.BoolVarP(&c.dryRun, "dry-run", "n", false, "list only, remove nothing")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	return cmd
}

// gcReport is the output of --json.
type gcReport struct {
	*workrail.Garbage
	DryRun           bool     `json:"dryRun"`
	Removed          []string `json:"removed"` // ids of sessions
	RemovedSnapshots int      `json:"removedSnapshots"`
	InUse            []string `json:"inUse"` // sessions kept because they are in use
}

func (c *gcCommand) run(a *workrail.Admin, args []string) error {
	retention, err := c.retention(a, args)
	if err != nil {
		return err
	}
	garbage, err := c.list(a, retention)
	if err != nil {
		return err
	}
	report := &gcReport{Garbage: garbage, DryRun: c.dryRun, Removed: []string{}, InUse: []string{}}
	if !c.JSON {
		c.show(garbage)
	}
	if !c.dryRun && len(garbage.Sessions)+len(garbage.Snapshots) > 0 {
		if err := c.Confirm("Remove them? This cannot be undone."); err != nil {
			return err
		}
		err = c.remove(a, report)
	}
	if c.JSON {
		if e := term.WriteJSONLine(c.Env.Out, report); e != nil {
			return e
		}
	} else if !c.dryRun && len(report.Removed)+report.RemovedSnapshots > 0 {
		fmt.Fprintf(c.Env.Out, "%s %s, %s\n", c.Env.Colors().Good("removed"), sessionCount(len(report.Removed)), workflowCount(report.RemovedSnapshots))
	}
	if err == nil && len(report.InUse) > 0 {
		return term.Found()
	}
	return err
}

func sessionCount(n int) string { return term.Count(uint64(n), "session", "sessions") } //nolint:gosec // a count

func workflowCount(n int) string { return term.Count(uint64(n), "stored workflow", "stored workflows") } //nolint:gosec // a count

func (c *gcCommand) retention(a *workrail.Admin, args []string) (r workrail.Retention, err error) {
	if len(args) > 0 && (c.completed || c.Cmd.Flags().Changed("older-than")) {
		return r, term.BadInput("leave the flags out", "ids cannot be combined with --older-than or --completed")
	}
	age, err := term.ParseAge(c.older)
	if err != nil {
		return r, term.BadInput("a duration such as 12h or 30d", "--older-than %q: not a duration", c.older)
	}
	r = workrail.Retention{Before: c.Env.Now().Add(-age), Completed: c.completed}
	r.IDs, err = c.findAll(a, args)
	return r, err
}

func (c *gcCommand) list(a *workrail.Admin, r workrail.Retention) (*workrail.Garbage, error) {
	ctx, stop := term.StopContext(c.Cmd)
	defer stop()
	show, clearLine := c.progress("reading session")
	garbage, err := a.Garbage(ctx, r, show)
	clearLine()
	if err != nil {
		return nil, stateError(err)
	}
	return garbage, nil
}

func (c *gcCommand) show(g *workrail.Garbage) {
	colors := c.Env.Colors()
	for i := range g.Sessions {
		s := &g.Sessions[i]
		fmt.Fprintf(c.Env.Out, "%s  %s  %s  %s  %s\n", colors.Name(s.ID), stateWord(colors, s.State), bench.Stamp(s.Updated), term.Printable(s.Workflow), term.Truncate(term.Printable(s.Goal), 60))
	}
	for _, hash := range g.Snapshots {
		fmt.Fprintf(c.Env.Out, "%s  stored workflow that no session uses\n", colors.Name(term.Printable(hash[:min(16, len(hash))])))
	}
	if len(g.Sessions)+len(g.Snapshots) == 0 {
		fmt.Fprintf(c.Env.Out, "Nothing to remove: %s kept.\n", sessionCount(g.Kept))
		return
	}
	fmt.Fprintf(c.Env.Out, "%s and %s to remove; %s kept\n", sessionCount(len(g.Sessions)), workflowCount(len(g.Snapshots)), sessionCount(g.Kept))
}

// remove removes the sessions one by one. When it is interrupted, each is either removed or unchanged.
func (c *gcCommand) remove(a *workrail.Admin, report *gcReport) (err error) {
	log, err := c.openLog()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	ctx, stop := term.StopContext(c.Cmd)
	defer stop()
	show, clearLine := c.progress("removing session")
	defer clearLine()
	for i := range report.Sessions {
		s := &report.Sessions[i]
		if ctx.Err() != nil {
			return stateError(ctx.Err())
		}
		if show != nil {
			show(i, len(report.Sessions))
		}
		var locked *railsession.LockedError
		whole := context.WithoutCancel(ctx)
		about := map[string]any{"workflow": s.Workflow, "state": string(s.State), "completed_steps": s.Completed, "changed": bench.Stamp(s.Updated)}
		err := log.record(whole, s.ID, about, func() error { return a.RemoveSession(whole, s) })
		switch {
		case errors.Is(err, workrail.ErrChanged), errors.As(err, &locked):
			report.InUse = append(report.InUse, s.ID)
			c.Env.Notify(c.Cmd, fmt.Sprintf("session %s was kept: %s", s.ID, err), "")
		case err != nil:
			return stateError(err)
		default:
			report.Removed = append(report.Removed, s.ID)
		}
	}
	if len(report.Snapshots) == 0 {
		return nil
	}
	err = log.record(ctx, "", map[string]any{"stored_workflows": report.Snapshots[:min(len(report.Snapshots), 20)]}, func() error {
		var err error
		report.RemovedSnapshots, err = a.RemoveSnapshots(ctx, report.Snapshots)
		return err
	})
	if err != nil {
		return stateError(err)
	}
	return nil
}
