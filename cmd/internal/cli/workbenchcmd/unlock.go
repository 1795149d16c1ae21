package workbenchcmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// unlockCommand has the flags of `candor workbench unlock`.
type unlockCommand struct {
	reviewCommand
	list   bool
	all    bool
	reason string
}

func newUnlock(env *term.Env) *cobra.Command {
	c := &unlockCommand{reviewCommand: reviewCommand{Operator: bench.Operator{Env: env}, as: "unlock"}}
	cmd := &cobra.Command{
		Use:   "unlock [SESSION]",
		Short: "List the locked sessions of a workspace, and unlock one",
		Long: `List the sessions of a workspace that are locked because they broke a rule, with time, role, reason and the reference of
the failure. Then ask for confirmation and unlock one. SESSION is an id, or its first digits; the default is the only locked session,
and several are only listed. A session begun later inherits the lock, and is free when all inherited locks are removed.

An agent unlocks its session with a report below docs/reports/. This command is for the operator, if that is not possible or not
wanted. Operator, time and reason are recorded in the ledger. The server may be running and sees the change at the next call. If a
call is changing the workspace, the command waits a few seconds and then fails.

Exit codes: 0 unlocked, nothing locked, or listed; 1 not confirmed; 2 an error.`,
		Example: `  candor workbench unlock --list
  candor workbench unlock
  candor workbench unlock 1b9d6bcd --root ~/projects/site --reason "a rule that was too strict" --yes`,
		Args: term.MaxArgs(1, "candor workbench unlock 1b9d6bcd"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Cmd = cmd
			return c.run(args)
		},
	}
	c.Register(cmd, reviewRoot)
	c.registerDecision(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&c.list, "list", "l", false, "list the locked sessions, unlock nothing")
	flags.BoolVar(&c.all, "all", false, "unlock all locked sessions")
	flags.StringVar(&c.reason, "reason", "", "reason for the ledger")
	flags.Lookup("json").Usage = "print one JSON object; needs --yes or --list"
	flags.Lookup("by").Usage = "name of the operator; default the current user"
	cmd.MarkFlagsMutuallyExclusive("list", "all")
	cmd.MarkFlagsMutuallyExclusive("list", "yes")
	cmd.MarkFlagsMutuallyExclusive("list", "reason")
	return cmd
}

// unlockReport is the output of --json.
type unlockReport struct {
	Locked   []kaiza.LockedSession `json:"locked"`   // still locked
	Unlocked []kaiza.LockedSession `json:"unlocked"` // unlocked by this command
	OK       bool                  `json:"ok"`
	Code     string                `json:"code,omitempty"`
	Message  string                `json:"message,omitempty"`
}

// newUnlockReport returns a report whose lists are never null.
func newUnlockReport(locked []kaiza.LockedSession) unlockReport {
	return unlockReport{Locked: append([]kaiza.LockedSession{}, locked...), Unlocked: []kaiza.LockedSession{}}
}

func (c *unlockCommand) run(args []string) (err error) {
	if len(args) > 0 && (c.all || c.list) {
		return term.BadInput("candor workbench unlock 1b9d6bcd", "SESSION cannot be combined with --all or --list")
	}
	r, closing, err := c.open(!c.list)
	if err != nil {
		return err
	}
	defer func() { err = c.finish(r, err, closing()) }()
	locked, err := r.Locked()
	if err != nil {
		return c.refuse(newUnlockReport(nil), err)
	}
	chosen, err := c.choose(locked, args)
	if err != nil {
		return c.refuse(newUnlockReport(locked), err)
	}
	if len(chosen) == 0 {
		return c.printLocked(locked)
	}
	if !c.JSON {
		c.show(chosen)
	}
	if err := c.Confirm(question(len(chosen))); err != nil {
		return err
	}
	return c.unlock(r, locked, chosen)
}

// choose returns the sessions to unlock: none if nothing is locked, or if several are and SESSION is missing.
func (c *unlockCommand) choose(locked []kaiza.LockedSession, args []string) ([]kaiza.LockedSession, error) {
	switch {
	case c.list:
		return nil, nil
	case len(args) > 0:
		one, err := kaiza.FindLocked(locked, args[0])
		return []kaiza.LockedSession{one}, err
	case c.all || len(locked) == 1:
		return locked, nil
	case len(locked) > 1 && c.Yes:
		return nil, candor.New(kaizacode.InvalidInputValue, fmt.Sprintf("%d sessions are locked, and none was chosen.", len(locked)),
			candor.WithSuggestion("Give a session id or --all; candor workbench unlock --list lists them."))
	}
	return nil, nil
}

func question(n int) string {
	if n == 1 {
		return "Unlock this session?"
	}
	return fmt.Sprintf("Unlock these %d sessions?", n)
}

// unlock unlocks the chosen sessions and stops at the first error.
func (c *unlockCommand) unlock(r *kaiza.Review, locked, chosen []kaiza.LockedSession) error {
	report := newUnlockReport(locked)
	for _, l := range chosen {
		c.warn(r) // warnings about the previous session
		if err := r.Unlock(c.Cmd.Context(), l, c.Person(), c.reason); err != nil {
			return c.refuse(report, err)
		}
		report.Unlocked = append(report.Unlocked, l)
		report.Locked = slices.DeleteFunc(report.Locked, func(other kaiza.LockedSession) bool { return other.Session == l.Session })
		if !c.JSON {
			fmt.Fprintf(c.Env.Out, "%s %s\n", c.Env.Colors().Good("unlocked"), brief(l.Session))
		}
	}
	report.OK = true
	if c.JSON {
		return term.WriteJSONLine(c.Env.Out, report)
	}
	return nil
}

// printLocked lists the locked sessions.
func (c *unlockCommand) printLocked(locked []kaiza.LockedSession) error {
	if c.JSON {
		report := newUnlockReport(locked)
		report.OK = true
		return term.WriteJSONLine(c.Env.Out, report)
	}
	if len(locked) == 0 {
		fmt.Fprintln(c.Env.Out, "No session of this workspace is locked.")
		return nil
	}
	c.show(locked)
	if !c.list {
		fmt.Fprintf(c.Env.Out, "To unlock one: candor workbench unlock %s; to unlock all: --all\n", brief(locked[0].Session))
	}
	return nil
}

// show prints locked sessions, two lines each.
func (c *unlockCommand) show(locked []kaiza.LockedSession) {
	colors := c.Env.Colors()
	for _, l := range locked {
		if l.Problem != "" {
			fmt.Fprintf(c.Env.Out, "%s  %s\n", colors.Name(brief(l.Session)), colors.Bad(term.Printable(l.Problem)))
			continue
		}
		fmt.Fprintf(c.Env.Out, "%s  %s  locked since %s\n", colors.Name(brief(l.Session)), term.Printable(l.Role), bench.Stamp(l.At))
		why := colors.Bad(term.Printable(l.Code))
		if l.Invariant != "" {
			why += " " + term.Printable(l.Invariant)
		}
		fmt.Fprintf(c.Env.Out, "    %s in %s, reference %s\n", why, term.Printable(l.Tool), term.Printable(l.Ref))
	}
}

// brief shortens a session id, because the whole id is a secret that allows acting as the session.
func brief(session string) string { return term.Printable(session[:min(8, len(session))]) }

// refuse prints why a session was not unlocked.
func (c *unlockCommand) refuse(report unlockReport, err error) error {
	e := candor.From(err)
	hint := e.Suggestion()
	if e.Code() == candor.CodeLedgerLocked {
		hint = "try again when the call has ended"
	}
	if c.JSON {
		report.Code, report.Message = e.Code().Symbol(), e.Message()
		if err := term.WriteJSONLine(c.Env.Out, report); err != nil {
			return err
		}
	}
	return term.BadInput(hint, "%s: %s", e.Code().Symbol(), e.Message())
}
