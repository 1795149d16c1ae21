package workbenchcmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
)

// reviewCommand has the flags that the commands of the reviewer share.
type reviewCommand struct {
	bench.Operator
	note    string
	wait    time.Duration
	writer  string // its name in the ledger
	preview bool   // change nothing
	strange bool   // no server has used the workspace with this state folder
}

func newPlans(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plans",
		Short: "List the plans of a workspace",
		Example: `  candor workbench plans
  candor workbench plans --root ~/projects/site --json`,
		Args: term.MaxArgs(0, "candor workbench plans --root DIR"),
	}
	newReview(env, cmd, "", func(c *reviewCommand, r *kaiza.Review, _ []string) error { return c.list(r) })
	return cmd
}

func newApprove(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve PLAN",
		Short: "Show what a plan changes, and approve it",
		Long: `Show a plan for review. Then ask for confirmation, and record the approval in the ledger, in the state folder and in the
header of the plan. PLAN is a hash, or at least its first eight digits.

Only this command approves a plan: the text of files in the workspace is not trusted.
Exit codes: 0 approved; 1 not confirmed; 2 an error.`,
		Example: `  candor workbench approve 3f2a9c1d
  candor workbench approve 3f2a9c1d --root ~/projects/site --note "as discussed" --yes`,
		Args: term.OneArg("plan", "candor workbench approve 3f2a9c1d"),
	}
	c := newReview(env, cmd, "approve", func(c *reviewCommand, r *kaiza.Review, args []string) error { return c.approve(r, args[0]) })
	cmd.Flags().StringVar(&c.note, "note", "", "remark that is stored with the approval")
	return cmd
}

func newRevoke(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke PLAN",
		Short: "Revoke the approval of a plan",
		Long: `Revoke the approval of a plan. The command waits up to --wait for a call that is changing the workspace, with its checks;
meanwhile no other call can change anything. Exit codes: 0 revoked; 1 the plan is not approved, or not confirmed; 2 an error, and the
approval remains.`,
		Example: "  candor workbench revoke 3f2a9c1d",
		Args:    term.OneArg("plan", "candor workbench revoke 3f2a9c1d"),
	}
	newReview(env, cmd, "approve", func(c *reviewCommand, r *kaiza.Review, args []string) error { return c.revoke(r, args[0]) })
	return cmd
}

// defaultWait is the time that a decision waits for the call that is changing the workspace and its checks. Until then no other call can
// use an approval.
const defaultWait = 10 * time.Minute

// newReview returns a command that calls run with the opened workspace. writer is its name in the ledger; it is "" for a command that
// decides nothing.
func newReview(env *term.Env, cmd *cobra.Command, writer string, run func(*reviewCommand, *kaiza.Review, []string) error) *reviewCommand {
	c := &reviewCommand{Operator: bench.Operator{Env: env, Cmd: cmd}, writer: writer}
	c.Register(cmd, "workspace; default the working directory")
	if writer == "" {
		c.RegisterJSON(cmd)
	} else {
		c.RegisterDecision(cmd, "print one JSON object; needs --yes", "name of the reviewer")
		cmd.Flags().DurationVar(&c.wait, "wait", defaultWait, "maximum wait for a call that is changing the workspace, with its checks")
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return c.open(func(r *kaiza.Review) error { return run(c, r, args) })
	}
	return c
}

// open calls do with the opened workspace. After a decision, an error of closing is only a warning because the decision is already recorded.
func (c *reviewCommand) open(do func(*kaiza.Review) error) (err error) {
	var closers []io.Closer
	defer func() {
		var closing error
		for _, closer := range slices.Backward(closers) {
			closing = errors.Join(closing, closer.Close())
		}
		if err == nil && closing != nil && c.writer != "" {
			c.Env.Notify(c.Cmd, "warning: done, but closing the ledger failed: "+candor.From(closing).Message(), "")
			return
		}
		err = errors.Join(err, closing)
	}()
	root, err := c.RootDir()
	if err != nil {
		return err
	}
	state, err := c.OpenState(c.Env, "kaiza")
	if err != nil {
		return err
	}
	closers = append(closers, state)
	c.strange = !kaiza.Known(state, root)
	k, err := kaiza.New(kaiza.Options{Root: root, State: state, LockWait: max(c.wait, time.Millisecond)})
	if err != nil {
		return err
	}
	var trail *ledger.Ledger
	if c.writer != "" && !c.preview {
		if trail, err = c.OpenLedger(state, c.writer); err != nil {
			return err
		}
		if trail != nil { // nil for --ledger none
			closers = append(closers, trail)
		}
	}
	r, err := k.OpenReview(root, c.LedgerDir(c.Env, state), trail)
	if err != nil {
		return planError(err)
	}
	closers = append(closers, r)
	return do(r)
}

// planError turns an error of the workspace into one for the operator.
func planError(err error) *term.Error {
	e := candor.From(err)
	hint := e.Suggestion()
	switch e.Code() { // the suggestions are for agents
	case kaizacode.PlanNotFound:
		hint = "candor workbench plans lists the plans; name another workspace with --root, or the folder of the server with --state"
	case kaizacode.AuditLockFailed, candor.CodeLedgerLocked:
		hint = "try again later, or use a longer --wait; nothing was changed"
	case kaizacode.InvalidInputValue:
		if e.Details().Get("plans").IsZero() { // else the hash is too short
			hint = "use another --by, or a shorter --note without control characters"
		}
	case kaizacode.InvariantViolation:
		hint = "when the disk works again, check with candor workbench plans whether the plan is approved"
	}
	return term.BadInput(hint, "%s: %s", e.Code().Symbol(), e.Message())
}

func (c *reviewCommand) list(r *kaiza.Review) error {
	listing, err := r.Plans().List()
	if err != nil {
		return planError(err)
	}
	return term.WriteReport(c.Env, c.JSON, listing, true, func() { c.showPlans(&listing) })
}

func (c *reviewCommand) showPlans(listing *plan.Listing) {
	if len(listing.Plans) == 0 {
		fmt.Fprintln(c.Env.Out, "There are no plans yet. A planner submits one with submit_plan.")
		return
	}
	colors := c.Env.Colors()
	for _, p := range listing.Plans {
		word := colors.Warn(term.Pad("proposed", 8))
		switch {
		case p.Status == plan.StatusApproved:
			word = colors.Good(term.Pad("approved", 8))
		case p.Problem != "":
			word = colors.Bad(term.Pad("damaged", 8))
		}
		fmt.Fprintf(c.Env.Out, "%s  %s  %s\n", colors.Name(p.Hash[:12]), word, p.Title)
		if p.Problem != "" {
			fmt.Fprintf(c.Env.Out, "%s%s\n", term.Pad("", 24), p.Problem)
		}
	}
	if listing.More > 0 {
		fmt.Fprintf(c.Env.Out, "%d more are not listed; approve finds them by their hashes.\n", listing.More)
	}
}

// approve shows a plan, asks for confirmation, and approves exactly that plan.
func (c *reviewCommand) approve(r *kaiza.Review, name string) error {
	shown, err := r.Plans().Load(name)
	if err != nil {
		return planError(err)
	}
	if !c.JSON {
		if err := errors.Join(plan.Review(c.Env.Out, shown), c.Env.Out.Flush()); err != nil {
			return err
		}
	}
	if err := c.Confirm("Approve this plan?"); err != nil {
		return err
	}
	stored, err := r.Approve(c.Cmd.Context(), shown.Hash, c.Person(), c.note)
	if err != nil {
		return planError(err)
	}
	if c.strange {
		c.Env.Notify(c.Cmd, "warning: no server has used this workspace with this state folder, so the approval may be in the wrong place",
			"give the --state and --ledger that the server was started with")
	}
	return c.printDecision("approved", stored)
}

func (c *reviewCommand) revoke(r *kaiza.Review, name string) error {
	hash, err := r.Plans().Approvable(name) // even if its file is missing: it may come back
	if err != nil {
		return planError(err)
	}
	if !r.Revocable(hash) {
		return &term.Error{Code: term.ExitFound, Text: "plan " + hash[:12] + " is not approved; nothing was changed"}
	}
	if err := c.Confirm("Revoke the approval of " + hash[:12] + "?"); err != nil {
		return err
	}
	stored, err := r.Revoke(c.Cmd.Context(), hash, c.Person())
	if err != nil {
		return planError(err)
	}
	return c.printDecision("revoked", stored)
}

// printDecision prints a decision.
func (c *reviewCommand) printDecision(done string, stored plan.Stored) error {
	out, title := map[string]any{"plan_hash": stored.Hash, "approved": stored.Approved(), "by": c.Person()}, "its file is damaged or missing"
	if stored.Plan != nil {
		title = stored.Plan.Title
		out["title"] = title
	}
	return term.WriteReport(c.Env, c.JSON, out, true, func() {
		fmt.Fprintf(c.Env.Out, "%s %s: %s\n", c.Env.Colors().Good(done), stored.Hash, title)
	})
}
