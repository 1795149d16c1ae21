package workrailcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
	railsession "github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
)

// railCommand holds what the commands below `candor workbench workrail` share.
type railCommand struct {
	env       *term.Env
	cmd       *cobra.Command
	place     bench.StateFlags
	workflows string
	json, yes bool
	by        string
	keep      service.KeepFlags
	state     *workbench.State // while with runs
}

// Register adds --state.
func (c *railCommand) register(cmd *cobra.Command) {
	c.cmd = cmd
	cmd.Flags().StringVar(&c.place.State, "state", "", "the state folder of the server; default in the state folder of the user")
	_ = cmd.MarkFlagDirname("state") // the flag is ours, so that marking it cannot fail
}

// registerJSON adds --json.
func (c *railCommand) registerJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
}

// registerYes adds the flags of a command that asks before it changes anything.
func (c *railCommand) registerYes(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do it without asking")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object; needs --yes to change anything")
	c.registerTrail(cmd)
}

// with opens the state for a function. A folder that was named must exist.
func (c *railCommand) with(do func(*workrail.Admin) error) (err error) {
	if c.place.State != "" {
		if info, err := os.Stat(c.place.State); err != nil || !info.IsDir() {
			return term.BadInput("name the folder that the server was started with", "--state: %s is not a folder", c.place.State)
		}
	}
	o := workrail.Options{}
	if c.workflows != "" {
		if info, err := os.Stat(c.workflows); err != nil || !info.IsDir() {
			return term.BadInput("name an existing folder with --workflows", "%s is not a folder", c.workflows)
		}
		o.Workflows = term.AbsolutePath(c.workflows)
	}
	var state *workbench.State
	if state, err = c.place.OpenState(c.env, "workrail"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	c.state, o.State = state, state
	admin, err := workrail.OpenAdmin(o, c.env.Now)
	if err != nil {
		return term.BadInput("check the folder and who may read it", "%s", err)
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	return do(admin)
}

// find returns the id that a person means.
func (c *railCommand) find(a *workrail.Admin, typed string) (string, error) {
	id, err := a.Find(typed)
	var several *workrail.AmbiguousError
	switch {
	case errors.Is(err, railsession.ErrNotFound):
		return "", term.BadInput("candor workbench workrail sessions --all lists them; name the server's folder with --state", "no session has an id that begins with %q", typed)
	case errors.As(err, &several):
		return "", term.BadInput("give more digits", "%q: %s", typed, err)
	case err != nil:
		return "", railFault(err)
	}
	return id, nil
}

// railFault is the fault of a state that cannot be read or changed.
func railFault(err error) *term.Error {
	var locked *railsession.LockedError
	switch {
	case errors.Is(err, context.Canceled):
		return term.BadInput("run the command again to go on", "interrupted")
	case errors.As(err, &locked):
		return term.BadInput("try again when it is done", "%s", err)
	}
	return term.BadInput("check the folder and who may read it", "%s", err)
}

// asks returns nil if the person agrees to a change.
func (c *railCommand) asks(question string) error {
	switch {
	case c.yes:
		return nil
	case c.json || !c.env.Interactive:
		return term.BadInput("use --yes to do it without being asked", "not a terminal, or --json is given: cannot ask for confirmation; nothing was changed")
	case !term.Ask(c.env, question):
		return &term.Error{Code: term.ExitFound, Text: "nothing was changed"}
	}
	return nil
}

// progress shows on a terminal how far a long run is. Call done when it is over.
func (c *railCommand) progress(what string) (show workrail.Progress, done func()) {
	if !c.env.Terminal || c.json {
		return nil, func() {}
	}
	shown, last := false, time.Time{}
	show = func(i, n int) {
		if now := time.Now(); n >= 50 && now.Sub(last) > 100*time.Millisecond {
			fmt.Fprintf(c.env.Err, "\r%s %d of %d", what, i+1, n)
			shown, last = true, now
		}
	}
	return show, func() {
		if shown {
			fmt.Fprint(c.env.Err, "\r\x1b[K")
		}
	}
}

// completeSessions offers the ids of sessions.
func (c *railCommand) completeSessions(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var found []string
	_ = c.with(func(a *workrail.Admin) error { // a shell that completes shows no errors
		ids, err := a.IDs()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if len(typed) > len(id) || id[:len(typed)] != typed || len(found) == 100 {
				continue
			}
			info, err := a.Session(term.Context(c.cmd.Context()), id)
			if err != nil {
				return err
			}
			found = append(found, id+"\t"+term.Truncate(term.Printable(string(info.State)+" "+info.Workflow+" "+info.Goal), 60))
		}
		return nil
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}

// stamped writes a time as the other commands do.
func stamped(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
