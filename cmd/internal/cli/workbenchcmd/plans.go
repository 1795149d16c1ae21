package workbenchcmd

import (
	"cmp"
	"errors"
	"fmt"
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
	note     string
	lifetime time.Duration
	uses     int
	wait     time.Duration
	as       string // name of the writer in the ledger; "" is approve
}

const reviewRoot = "workspace; default the working directory"

func newPlans(env *term.Env) *cobra.Command {
	c := &reviewCommand{Operator: bench.Operator{Env: env}}
	cmd := &cobra.Command{
		Use:   "plans",
		Short: "List the plans of a workspace",
		Example: `  candor workbench plans
  candor workbench plans --root ~/projects/site --json`,
		Args: term.MaxArgs(0, "candor workbench plans --root DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error { c.Cmd = cmd; return c.list() },
	}
	c.Register(cmd, reviewRoot)
	c.RegisterJSON(cmd)
	return cmd
}

func newApprove(env *term.Env) *cobra.Command {
	c := &reviewCommand{Operator: bench.Operator{Env: env}}
	cmd := &cobra.Command{
		Use:   "approve PLAN",
		Short: "Show what a plan changes, and approve it",
		Long: `Show a plan for review: its scopes, the number of existing files in each, and the differences from the plan that was
approved last. Then ask for confirmation, and record the approval in the ledger, in the state folder and in the header of the plan.
PLAN is a hash, or at least its first eight digits.

With --expires or --uses the approval is limited; later changes are refused with PLAN_NOT_APPROVED until the plan is approved
again. A change that fails or is reverted after a crash does not count as a use.

Only this command approves a plan: the text of files in the workspace is not trusted.
Exit codes: 0 approved; 1 not confirmed; 2 an error.`,
		Example: `  candor workbench approve 3f2a9c1d
  candor workbench approve 3f2a9c1d --expires 2h --uses 1
  candor workbench approve 3f2a9c1d --root ~/projects/site --note "as discussed" --yes`,
		Args: term.OneArg("plan", "candor workbench approve 3f2a9c1d"),
		RunE: func(cmd *cobra.Command, args []string) error { c.Cmd = cmd; return c.approve(args[0]) },
	}
	c.Register(cmd, reviewRoot)
	c.registerDecision(cmd)
	cmd.Flags().StringVar(&c.note, "note", "", "remark that is stored with the approval")
	cmd.Flags().DurationVar(&c.lifetime, "expires", 0, "lifetime of the approval, such as 30m or 2h; default unlimited")
	cmd.Flags().IntVar(&c.uses, "uses", 0, "number of changes that are approved, 1 to 100; default unlimited")
	return cmd
}

func newRevoke(env *term.Env) *cobra.Command {
	c := &reviewCommand{Operator: bench.Operator{Env: env}}
	cmd := &cobra.Command{
		Use:   "revoke PLAN",
		Short: "Revoke the approval of a plan",
		Long: `Revoke the approval of a plan. The command waits up to --wait for a call that is changing the workspace, with its checks;
meanwhile no other call can change anything. Exit codes: 0 revoked; 1 the plan is not approved, or not confirmed; 2 an error, and the
approval remains.`,
		Example: "  candor workbench revoke 3f2a9c1d",
		Args:    term.OneArg("plan", "candor workbench revoke 3f2a9c1d"),
		RunE:    func(cmd *cobra.Command, args []string) error { c.Cmd = cmd; return c.revoke(args[0]) },
	}
	c.Register(cmd, reviewRoot)
	c.registerDecision(cmd)
	return cmd
}

// registerDecision adds the flags of a command that changes something.
func (c *reviewCommand) registerDecision(cmd *cobra.Command) {
	c.RegisterDecision(cmd, "print one JSON object; needs --yes", "name of the reviewer")
	cmd.Flags().DurationVar(&c.wait, "wait", defaultWait, "maximum wait for a call that is changing the workspace, with its checks")
}

// A decision waits for the call that is changing the workspace and its checks. Until then no other call can use an approval.
const (
	defaultWait = 10 * time.Minute
	quietWait   = 2 * time.Second // before a message is printed
)

// waiting prints a message if a decision has to wait. Call done afterwards.
func (c *reviewCommand) waiting() (done func()) {
	t := time.AfterFunc(quietWait, func() {
		fmt.Fprintf(c.Env.Err, "waiting for a call that is changing this workspace, up to %s (see --wait)\n", c.wait)
	})
	return func() { t.Stop() }
}

// open opens the workspace for review, with the ledger if deciding.
func (c *reviewCommand) open(deciding bool) (r *kaiza.Review, closing func() error, err error) {
	root, err := c.RootDir()
	if err != nil {
		return nil, nil, err
	}
	state, err := c.OpenState(c.Env, "kaiza")
	if err != nil {
		return nil, nil, err
	}
	k, err := kaiza.New(kaiza.Options{Root: root, State: state, LockWait: max(c.wait, time.Millisecond)})
	if err != nil {
		return nil, nil, errors.Join(err, state.Close())
	}
	var trail *ledger.Ledger
	if deciding {
		if trail, err = c.OpenLedger(state, cmp.Or(c.as, "approve")); err != nil {
			return nil, nil, errors.Join(err, state.Close())
		}
	}
	shut := func() error {
		if trail == nil {
			return state.Close()
		}
		return errors.Join(trail.Close(), state.Close())
	}
	if r, err = k.OpenReview(root, trail); err != nil {
		return nil, nil, errors.Join(planError(err), shut())
	}
	r.ReadTrail(c.LedgerDir(c.Env, state))
	return r, func() error { return errors.Join(r.Close(), shut()) }, nil
}

// planError turns an error of the workspace into one for the operator.
func planError(err error) error {
	if err == nil {
		return nil
	}
	e := candor.From(err)
	hint := e.Suggestion()
	switch e.Code() { // the suggestions are for agents
	case kaizacode.PlanNotFound:
		hint = "candor workbench plans lists the plans; name another workspace with --root, or the folder of the server with --state"
	case candor.CodeLedgerLocked:
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

func (c *reviewCommand) list() (err error) {
	r, closing, err := c.open(false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	listing, err := r.Plans().List()
	if err != nil {
		return planError(err)
	}
	if c.JSON {
		return term.WriteJSONLine(c.Env.Out, listing)
	}
	if len(listing.Plans) == 0 {
		fmt.Fprintln(c.Env.Out, "There are no plans yet. A planner submits one with submit_plan.")
		return nil
	}
	colors := c.Env.Colors()
	for _, p := range listing.Plans {
		word := colors.Warn(term.Pad("proposed", 8))
		switch {
		case p.Status == plan.StatusApproved:
			word = colors.Good(term.Pad("approved", 8))
		case p.Status == plan.StatusExpired:
			word = colors.Warn(term.Pad("expired", 8))
		case p.Status == plan.StatusUsedUp:
			word = colors.Warn(term.Pad("used up", 8))
		case p.Problem != "":
			word = colors.Bad(term.Pad("damaged", 8))
		}
		fmt.Fprintf(c.Env.Out, "%s  %s  %s%s\n", colors.Name(p.Hash[:12]), word, p.Title, limitsListed(p))
		if p.Problem != "" {
			fmt.Fprintf(c.Env.Out, "%s%s\n", term.Pad("", 24), p.Problem)
		}
	}
	if listing.More > 0 {
		fmt.Fprintf(c.Env.Out, "%d more are not listed; approve finds them by their hashes.\n", listing.More)
	}
	return nil
}

// approve shows a plan, asks for confirmation, and approves exactly that plan.
func (c *reviewCommand) approve(name string) (err error) {
	if err := c.checkLimits(); err != nil {
		return err
	}
	r, closing, err := c.open(true)
	if err != nil {
		return err
	}
	defer func() { err = c.finish(r, err, closing()) }()
	shown, err := r.Plans().Load(name)
	if err != nil {
		return planError(err)
	}
	if !c.JSON {
		if err := c.show(r, shown); err != nil {
			return err
		}
	}
	if err := c.Confirm("Approve this plan?"); err != nil {
		return err
	}
	done := c.waiting()
	stored, err := r.Approve(c.Cmd.Context(), shown.Hash, c.Person(), c.note, plan.Limits{For: c.lifetime, Uses: c.uses})
	done()
	if err != nil {
		return planError(err)
	}
	return c.printDecision("approved", stored)
}

// maxLifetime is the maximum of --expires.
const maxLifetime = 366 * 24 * time.Hour

func (c *reviewCommand) checkLimits() error {
	switch flags := c.Cmd.Flags(); {
	case flags.Changed("expires") && (c.lifetime < time.Second || c.lifetime > maxLifetime):
		return term.BadInput("such as --expires 2h", "--expires: must be 1s to %s, not %s", maxLifetime, c.lifetime)
	case flags.Changed("uses") && (c.uses < 1 || c.uses > plan.MaxUses):
		return term.BadInput("such as --uses 1", "--uses: must be 1 to %d, not %d", plan.MaxUses, c.uses)
	}
	return nil
}

func (c *reviewCommand) show(r *kaiza.Review, shown plan.Stored) error {
	previous, err := r.Plans().Previous(shown.Hash)
	if err != nil {
		return planError(err)
	}
	files, more, err := r.Files(c.Cmd.Context())
	if err != nil {
		return planError(err)
	}
	if err := plan.Review(c.Env.Out, previous, shown, files, more, c.Env.Colors().On); err != nil {
		return err
	}
	return c.Env.Out.Flush()
}

func (c *reviewCommand) revoke(name string) (err error) {
	r, closing, err := c.open(true)
	if err != nil {
		return err
	}
	defer func() { err = c.finish(r, err, closing()) }()
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
	done := c.waiting()
	stored, err := r.Revoke(c.Cmd.Context(), hash, c.Person())
	done()
	if err != nil {
		return planError(err)
	}
	return c.printDecision("revoked", stored)
}

// finish ends a command that decides. After a decision, an error of closing is only a warning because the decision is already recorded.
func (c *reviewCommand) finish(r *kaiza.Review, err, closing error) error {
	if err != nil {
		return errors.Join(err, closing)
	}
	c.warn(r)
	if closing != nil {
		c.Env.Notify(c.Cmd, "warning: done, but closing the ledger failed: "+candor.From(closing).Message(), "")
	}
	return nil
}

// warn prints the warnings of the last decision.
func (c *reviewCommand) warn(r *kaiza.Review) {
	for _, warning := range r.Warnings() {
		c.Env.Notify(c.Cmd, "warning: "+warning, "")
	}
}

// printDecision prints a decision.
func (c *reviewCommand) printDecision(done string, stored plan.Stored) error {
	if c.JSON {
		out := map[string]any{"plan_hash": stored.Hash, "approved": stored.Approved(), "by": c.Person()}
		if stored.Plan != nil {
			out["title"] = stored.Plan.Title
		}
		if a := stored.Approval; a != nil && a.Expires != nil {
			out["expires"] = a.Expires
		}
		if a := stored.Approval; a != nil && a.Uses > 0 {
			out["uses"] = a.Uses
		}
		return term.WriteJSONLine(c.Env.Out, out)
	}
	title := "its file is damaged or missing"
	if stored.Plan != nil {
		title = stored.Plan.Title
	}
	fmt.Fprintf(c.Env.Out, "%s %s: %s%s\n", c.Env.Colors().Good(done), stored.Hash, title, limitsOf(stored.Approval))
	return nil
}

// limitsOf describes the limits of an approval, or returns "".
func limitsOf(a *plan.Approval) (text string) {
	if a != nil && a.Expires != nil {
		text += ", until " + a.Expires.UTC().Format(time.RFC3339)
	}
	if a != nil && a.Uses > 0 {
		text += fmt.Sprintf(", for %d of %d changes", a.Uses-len(a.Used), a.Uses)
	}
	return text
}

// limitsListed describes the limits of a listed plan's approval, or returns "".
func limitsListed(p plan.Summary) string {
	a := &plan.Approval{Expires: p.Expires, Uses: p.Uses}
	if p.UsesLeft != nil {
		a.Used = make([]string, p.Uses-*p.UsesLeft)
	}
	return limitsOf(a)
}
