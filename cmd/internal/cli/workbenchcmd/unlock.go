package workbenchcmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// unlockCommand holds the flags of `candor workbench unlock`.
type unlockCommand struct {
	planCommand
	list   bool
	all    bool
	reason string
}

func newUnlock(env *term.Env) *cobra.Command {
	c := &unlockCommand{planCommand: planCommand{env: env, as: "unlock"}}
	cmd := &cobra.Command{
		Use:   "unlock [SESSION]",
		Short: "List the locked sessions of a workspace, and unlock one",
		Long: `List the sessions of a workspace that are locked because a rule was broken: since when, in which role, why, and the
reference of the failure. Then ask, and unlock one. SESSION is an id, or the first digits of one; without it the only locked session is meant,
and if there are several they are listed. A session that was begun after the lock took it over, and is free when all locks that it took over are lifted.

An agent unlocks its session itself with a report below docs/reports/. This command is for the operator, where that is not possible
or not wanted. Who unlocked, when and why is recorded in the trail. A server may be running: it sees it at the next call. If a
call is changing the workspace the command waits a few seconds, and then gives up.

Exit code 0: it was unlocked, or nothing is locked, or the locks were listed. Exit code 1: it was not unlocked, because you said
no. Exit code 2: it could not be.`,
		Example: `  candor workbench unlock --list
  candor workbench unlock
  candor workbench unlock 1b9d6bcd --root ~/projects/site --reason "a rule that was too strict" --yes`,
		Args: term.MaxArgs(1, "candor workbench unlock 1b9d6bcd"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.cmd = cmd
			return c.run(args)
		},
	}
	c.Register(cmd, reviewRoot)
	c.decides(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&c.list, "list", "l", false, "only list the locked sessions")
	flags.BoolVar(&c.all, "all", false, "unlock all locked sessions")
	flags.StringVar(&c.reason, "reason", "", "why, for the trail")
	flags.Lookup("json").Usage = "print one JSON object; needs --yes or --list"
	flags.Lookup("by").Usage = "who unlocks; default the user who runs the command"
	cmd.MarkFlagsMutuallyExclusive("list", "all")
	cmd.MarkFlagsMutuallyExclusive("list", "yes")
	cmd.MarkFlagsMutuallyExclusive("list", "reason")
	return cmd
}

// unlockReport is what --json prints.
type unlockReport struct {
	Locked   []kaiza.LockedSession `json:"locked"`   // that are locked now
	Unlocked []kaiza.LockedSession `json:"unlocked"` // that this command has unlocked
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
		return term.BadInput("candor workbench unlock 1b9d6bcd", "a session cannot be named together with --all or --list")
	}
	r, closing, err := c.open(!c.list)
	if err != nil {
		return err
	}
	defer func() { err = c.afterwards(r, err, closing()) }()
	locked, err := r.Locked()
	if err != nil {
		return c.refuse(newUnlockReport(nil), err)
	}
	chosen, err := c.choose(locked, args)
	if err != nil {
		return c.refuse(newUnlockReport(locked), err)
	}
	if len(chosen) == 0 {
		return c.tell(locked)
	}
	if !c.json {
		c.show(chosen)
	}
	if err := c.asks(question(len(chosen))); err != nil {
		return err
	}
	return c.unlock(r, locked, chosen)
}

// choose returns the sessions to unlock. There are none if nothing is locked, or if several are and none was named.
func (c *unlockCommand) choose(locked []kaiza.LockedSession, args []string) ([]kaiza.LockedSession, error) {
	switch {
	case c.list:
		return nil, nil
	case len(args) > 0:
		one, err := kaiza.FindLocked(locked, args[0])
		return []kaiza.LockedSession{one}, err
	case c.all || len(locked) == 1:
		return locked, nil
	case len(locked) > 1 && c.yes:
		return nil, candor.New(kaizacode.InvalidInputValue, fmt.Sprintf("%d sessions are locked, and none was named.", len(locked)),
			candor.WithSuggestion("Name one, or give --all; candor workbench unlock --list lists them."))
	}
	return nil, nil
}

func question(n int) string {
	if n == 1 {
		return "Unlock this session?"
	}
	return fmt.Sprintf("Unlock these %d sessions?", n)
}

// unlock unlocks the chosen sessions one by one, and stops at the first that it cannot unlock.
func (c *unlockCommand) unlock(r *kaiza.Review, locked, chosen []kaiza.LockedSession) error {
	report := newUnlockReport(locked)
	for _, l := range chosen {
		c.warn(r) // of the one before
		if err := r.Unlock(term.Context(c.cmd.Context()), l, c.person(), c.reason); err != nil {
			return c.refuse(report, err)
		}
		report.Unlocked = append(report.Unlocked, l)
		report.Locked = slices.DeleteFunc(report.Locked, func(other kaiza.LockedSession) bool { return other.Session == l.Session })
		if !c.json {
			fmt.Fprintf(c.env.Out, "%s %s\n", c.env.Colors().Good("unlocked"), brief(l.Session))
		}
	}
	report.OK = true
	if c.json {
		return term.WriteJSONLine(c.env.Out, report)
	}
	return nil
}

// tell lists the locked sessions, where none is going to be unlocked.
func (c *unlockCommand) tell(locked []kaiza.LockedSession) error {
	if c.json {
		report := newUnlockReport(locked)
		report.OK = true
		return term.WriteJSONLine(c.env.Out, report)
	}
	if len(locked) == 0 {
		fmt.Fprintln(c.env.Out, "No session of this workspace is locked.")
		return nil
	}
	c.show(locked)
	if !c.list {
		fmt.Fprintf(c.env.Out, "Name one to unlock it, such as candor workbench unlock %s, or give --all.\n", brief(locked[0].Session))
	}
	return nil
}

// show prints locked sessions, two lines each.
func (c *unlockCommand) show(locked []kaiza.LockedSession) {
	paint := c.env.Colors()
	for _, l := range locked {
		if l.Problem != "" {
			fmt.Fprintf(c.env.Out, "%s  %s\n", paint.Name(brief(l.Session)), paint.Bad(term.Printable(l.Problem)))
			continue
		}
		fmt.Fprintf(c.env.Out, "%s  %s  locked since %s\n", paint.Name(brief(l.Session)), term.Printable(l.Role), l.At.UTC().Format("2006-01-02 15:04:05"))
		why := paint.Bad(term.Printable(l.Code))
		if l.Invariant != "" {
			why += " " + term.Printable(l.Invariant)
		}
		fmt.Fprintf(c.env.Out, "    %s in %s, reference %s\n", why, term.Printable(l.Tool), term.Printable(l.Ref))
	}
}

// brief shortens the id of a session, which is all that it takes to act as the session, to what is needed to name it here.
func brief(session string) string { return term.Printable(session[:min(8, len(session))]) }

// refuse reports that a session was not unlocked.
func (c *unlockCommand) refuse(report unlockReport, err error) error {
	e := candor.From(err)
	hint := e.Suggestion()
	if e.Code() == candor.CodeLedgerLocked {
		hint = "wait until the call has ended, and try again"
	}
	if c.json {
		report.Code, report.Message = e.Code().Symbol(), e.Message()
		if err := term.WriteJSONLine(c.env.Out, report); err != nil {
			return err
		}
	}
	return term.BadInput(hint, "%s: %s", e.Code().Symbol(), e.Message())
}
