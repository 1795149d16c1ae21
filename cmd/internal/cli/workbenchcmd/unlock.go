package workbenchcmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
)

func newUnlock(env *term.Env) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use:   "unlock [SESSION]",
		Short: "List the locked sessions of a workspace, and unlock one",
		Long: `List the sessions of a workspace that are locked because they broke a rule, with time, role, reason and the reference of
the failure. With SESSION, an id or its first digits, ask for confirmation and unlock that session. A session begun later inherits the
lock, and is free when all inherited locks are removed.

An agent unlocks its session with a report below docs/reports/. This command is for the operator, if that is not possible or not
wanted. Operator, time and reason are recorded in the ledger. The server may be running and sees the change at the next call. If a
call is changing the workspace, the command waits a few seconds and then fails.

Exit codes: 0 unlocked, nothing locked, or listed; 1 not confirmed; 2 an error.`,
		Example: `  candor workbench unlock
  candor workbench unlock 1b9d6bcd
  candor workbench unlock 1b9d6bcd --root ~/projects/site --reason "a rule that was too strict" --yes`,
		Args: term.MaxArgs(1, "candor workbench unlock 1b9d6bcd"),
	}
	c := newReview(env, cmd, "unlock", func(c *reviewCommand, r *kaiza.Review, args []string) error { return c.unlock(r, args, reason) })
	open := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.preview = len(args) == 0
		return open(cmd, args)
	}
	flags := cmd.Flags()
	flags.StringVar(&reason, "reason", "", "reason for the ledger")
	flags.Lookup("json").Usage = "print one JSON object; needs --yes with SESSION"
	flags.Lookup("by").Usage = "name of the operator; default the current user"
	return cmd
}

// unlockReport is the output of --json.
type unlockReport struct {
	Locked   []kaiza.Lock `json:"locked"`   // still locked
	Unlocked []kaiza.Lock `json:"unlocked"` // unlocked by this command
	OK       bool         `json:"ok"`
	Code     string       `json:"code,omitempty"`
	Message  string       `json:"message,omitempty"`
}

func (c *reviewCommand) unlock(r *kaiza.Review, args []string, reason string) error {
	report := unlockReport{Locked: []kaiza.Lock{}, Unlocked: []kaiza.Lock{}}
	err := c.unlockOne(r, args, reason, &report)
	if _, refused := errors.AsType[*term.Error](err); refused {
		return err
	}
	var failed error
	if report.OK = err == nil; !report.OK {
		e := candor.From(err)
		report.Code, report.Message = e.Code().Symbol(), e.Message()
		failed = changeError(err)
	}
	if c.JSON {
		if err := term.WriteJSONLine(c.Env.Out, report); err != nil {
			return err
		}
	}
	return failed
}

// unlockOne lists the locked sessions, or unlocks the one that args names.
func (c *reviewCommand) unlockOne(r *kaiza.Review, args []string, reason string, report *unlockReport) error {
	locked, err := r.Locked()
	if err != nil {
		return err
	}
	report.Locked = append(report.Locked, locked...)
	if len(args) == 0 {
		c.showLocked(locked)
		return nil
	}
	chosen, err := kaiza.FindLocked(locked, args[0])
	if err != nil {
		return err
	}
	if !c.JSON {
		c.showLock(chosen)
	}
	if err := c.Confirm("Unlock this session?"); err != nil {
		return err
	}
	if err := r.Unlock(c.Cmd.Context(), chosen, c.Person(), reason); err != nil {
		return err
	}
	report.Unlocked = append(report.Unlocked, chosen)
	report.Locked = slices.DeleteFunc(report.Locked, func(other kaiza.Lock) bool { return other.Session == chosen.Session })
	if !c.JSON {
		fmt.Fprintf(c.Env.Out, "%s %s\n", c.Env.Colors().Good("unlocked"), brief(chosen.Session))
	}
	return nil
}

func (c *reviewCommand) showLocked(locked []kaiza.Lock) {
	switch {
	case c.JSON:
		return
	case len(locked) == 0:
		fmt.Fprintln(c.Env.Out, "No session of this workspace is locked.")
		return
	}
	for _, l := range locked {
		c.showLock(l)
	}
	fmt.Fprintf(c.Env.Out, "To unlock one: candor workbench unlock %s\n", brief(locked[0].Session))
}

// showLock prints a locked session in two lines.
func (c *reviewCommand) showLock(l kaiza.Lock) {
	colors := c.Env.Colors()
	if l.Problem != "" {
		fmt.Fprintf(c.Env.Out, "%s  %s\n", colors.Name(brief(l.Session)), colors.Bad(term.Printable(l.Problem)))
		return
	}
	fmt.Fprintf(c.Env.Out, "%s  %s  locked since %s\n", colors.Name(brief(l.Session)), term.Printable(l.Role), bench.Stamp(l.At))
	why := colors.Bad(term.Printable(l.Code))
	if l.Invariant != "" {
		why += " " + term.Printable(l.Invariant)
	}
	fmt.Fprintf(c.Env.Out, "    %s in %s, reference %s\n", why, term.Printable(l.Tool), term.Printable(l.Ref))
}

// brief shortens a session id, because the whole id is a secret that allows acting as the session.
func brief(session string) string { return term.Printable(session[:min(8, len(session))]) }
