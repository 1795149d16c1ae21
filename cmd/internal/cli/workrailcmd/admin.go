package workrailcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
	railsession "github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
)

// adminCommand has the fields that the commands below `candor workbench workrail` share.
type adminCommand struct {
	bench.Operator
	workflows string
	state     *workbench.State // set while with runs
}

// register adds --state.
func (c *adminCommand) register(cmd *cobra.Command) {
	c.Cmd = cmd
	cmd.Flags().StringVar(&c.State, "state", "", "folder for the state of the server; default a folder in the user's state folder")
	_ = cmd.MarkFlagDirname("state") // fails only for an unknown flag
}

// registerYes adds the flags of a command that asks for confirmation and writes to the ledger.
func (c *adminCommand) registerYes(cmd *cobra.Command) {
	c.RegisterDecision(cmd, "print one JSON object; needs --yes to change anything", "name of the operator for the ledger")
	cmd.Flags().StringVar(&c.Ledger, "ledger", "", "folder of the ledger, or none; default $CANDOR_LEDGER, else ledger in the --state folder")
	_ = cmd.MarkFlagDirname("ledger") // fails only for an unknown flag
}

// with calls do with the opened state. A folder named by --state must exist.
func (c *adminCommand) with(do func(*workrail.Admin) error) (err error) {
	if err := c.RequireState(); err != nil {
		return err
	}
	o := workrail.Options{}
	if c.workflows != "" {
		if err := bench.RequireFolder("--workflows", c.workflows, "name an existing folder"); err != nil {
			return err
		}
		o.Workflows = term.AbsolutePath(c.workflows)
	}
	var state *workbench.State
	if state, err = c.OpenState(c.Env, "workrail"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	c.state, o.State = state, state
	admin, err := workrail.OpenAdmin(o, c.Env.Now)
	if err != nil {
		return term.BadInput("check the folder and its permissions", "%s", err)
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	return do(admin)
}

// find returns the session id with the given beginning.
func (c *adminCommand) find(a *workrail.Admin, typed string) (string, error) {
	id, err := a.Find(typed)
	var several *workrail.AmbiguousError
	switch {
	case errors.Is(err, railsession.ErrNotFound):
		return "", term.BadInput("candor workbench workrail sessions --all lists them; name the folder of the server with --state", "%q: no session id begins with this", typed)
	case errors.As(err, &several):
		return "", term.BadInput("give more digits of the id", "%q: %s", typed, err)
	case err != nil:
		return "", stateError(err)
	}
	return id, nil
}

// stateError adds the next step to an error of reading or changing the state.
func stateError(err error) *term.Error {
	var locked *railsession.LockedError
	switch {
	case errors.Is(err, context.Canceled):
		return term.BadInput("run the command again to continue", "interrupted")
	case errors.As(err, &locked):
		return term.BadInput("try again later", "%s", err)
	}
	return term.BadInput("check the folder and its permissions", "%s", err)
}

// progress returns a function that shows the progress on a terminal, and one that clears the line at the end.
func (c *adminCommand) progress(what string) (show workrail.Progress, done func()) {
	if !c.Env.Terminal || c.JSON {
		return nil, func() {}
	}
	shown, last := false, time.Time{}
	show = func(i, n int) {
		if now := time.Now(); n >= 50 && now.Sub(last) > 100*time.Millisecond {
			fmt.Fprintf(c.Env.Err, "\r%s %d of %d", what, i+1, n)
			shown, last = true, now
		}
	}
	return show, func() {
		if shown {
			fmt.Fprint(c.Env.Err, "\r\x1b[K")
		}
	}
}

// completeSessions completes session ids.
func (c *adminCommand) completeSessions(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var found []string
	_ = c.with(func(a *workrail.Admin) error { // completion shows no errors
		ids, err := a.IDs()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if len(typed) > len(id) || id[:len(typed)] != typed || len(found) == 100 {
				continue
			}
			info, err := a.Session(c.Cmd.Context(), id)
			if err != nil {
				return err
			}
			found = append(found, id+"\t"+term.Truncate(term.Printable(string(info.State)+" "+info.Workflow+" "+info.Goal), 60))
		}
		return nil
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}
