package workbenchcmd

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
)

// planCommand holds the flags of the commands for the person who approves.
type planCommand struct {
	bench.StateFlags
	env   *term.Env
	cmd   *cobra.Command
	yes   bool
	json  bool
	by    string
	note  string
	lasts time.Duration
	uses  int
	wait  time.Duration
	as    string // the name of the command in the trail; "" is approve
	keep  service.KeepFlags
}

const reviewRoot = "the workspace; default the working folder"

func newPlans(env *term.Env) *cobra.Command {
	c := &planCommand{env: env}
	cmd := &cobra.Command{
		Use:   "plans",
		Short: "List the plans of a workspace",
		Example: `  candor workbench plans
  candor workbench plans --root ~/projects/site --json`,
		Args: term.MaxArgs(0, "candor workbench plans --root DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error { c.cmd = cmd; return c.list() },
	}
	c.Register(cmd, reviewRoot)
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

func newApprove(env *term.Env) *cobra.Command {
	c := &planCommand{env: env}
	cmd := &cobra.Command{
		Use:   "approve PLAN",
		Short: "See what a plan changes, and approve it",
		Long: `Show a plan as a person should see it before approving it: what it covers, how many existing files each scope
touches, and how it differs from the plan that was approved last. Then ask, and record the approval in the trail, in
the state folder and in the header of the plan. PLAN is a hash, or its first eight digits or more.

With --expires or --uses the approval ends by itself; a change after that is refused with PLAN_NOT_APPROVED until the plan
is approved again. A change that fails or is put back after a crash does not count as a use.

Nothing else approves a plan: what a file in the workspace says about itself is not believed. Exit code 1: it was not
approved, because you said no. Exit code 2: it could not be.`,
		Example: `  candor workbench approve 3f2a9c1d
  candor workbench approve 3f2a9c1d --expires 2h --uses 1
  candor workbench approve 3f2a9c1d --root ~/projects/site --note "as discussed" --yes`,
		Args: term.OneArg("plan", "candor workbench approve 3f2a9c1d"),
		RunE: func(cmd *cobra.Command, args []string) error { c.cmd = cmd; return c.approve(args[0]) },
	}
	c.Register(cmd, reviewRoot)
	c.decides(cmd)
	cmd.Flags().StringVar(&c.note, "note", "", "a remark that is kept with the approval")
	cmd.Flags().DurationVar(&c.lasts, "expires", 0, "the approval ends after this time, such as 30m or 2h; default never")
	cmd.Flags().IntVar(&c.uses, "uses", 0, "the approval is for so many changes, 1 to 100; default any number")
	return cmd
}

func newRevoke(env *term.Env) *cobra.Command {
	c := &planCommand{env: env}
	cmd := &cobra.Command{
		Use:   "revoke PLAN",
		Short: "Take the approval of a plan back",
		Long: `Take the approval of a plan back. It waits for a call that is changing the workspace, with the checks that follow it, at
most for --wait; meanwhile no other call can change anything. Exit code 1: the plan is not approved, or you said no. Exit
code 2: it could not be done, and the approval stands.`,
		Example: "  candor workbench revoke 3f2a9c1d",
		Args:    term.OneArg("plan", "candor workbench revoke 3f2a9c1d"),
		RunE:    func(cmd *cobra.Command, args []string) error { c.cmd = cmd; return c.revoke(args[0]) },
	}
	c.Register(cmd, reviewRoot)
	c.decides(cmd)
	return cmd
}

func (c *planCommand) decides(cmd *cobra.Command) {
	c.keep.RegisterCheckpoints(cmd)
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do it without asking")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object; needs --yes")
	cmd.Flags().DurationVar(&c.wait, "wait", defaultWait, "how long to wait for a call that is changing the workspace, with its checks")
	cmd.Flags().StringVar(&c.by, "by", "", "who approves; default the user who runs the command")
}

// A decision waits for the call that is changing the workspace, which runs its checks meanwhile. No other call can use an approval until then.
const (
	defaultWait = 10 * time.Minute
	quietWait   = 2 * time.Second // before the person is informed
)

// waiting informs the person if a decision has to wait. Call the returned function when it is made.
func (c *planCommand) waiting() (done func()) {
	t := time.AfterFunc(quietWait, func() {
		fmt.Fprintf(c.env.Err, "waiting for a call that is changing this workspace, up to %s (see --wait)\n", c.wait)
	})
	return func() { t.Stop() }
}

// open opens the workspace for its reviewer, with the trail if anything is going to be decided.
func (c *planCommand) open(deciding bool) (r *kaiza.Review, closing func() error, err error) {
	root, err := c.RootDir()
	if err != nil {
		return nil, nil, err
	}
	state, err := c.OpenState(c.env, "kaiza")
	if err != nil {
		return nil, nil, err
	}
	k, err := kaiza.New(kaiza.Options{Root: root, State: state, LockWait: max(c.wait, time.Millisecond)})
	if err != nil {
		return nil, nil, errors.Join(err, state.Close())
	}
	var trail *ledger.Ledger
	dir := c.TrailDir(c.env, state)
	if deciding && dir != "" {
		if trail, err = ledger.Open(dir, c.keep.Options(dir, cmp.Or(c.as, "approve"), c.env.Getenv, slog.New(slog.NewTextHandler(c.env.Err, nil)))); err != nil {
			return nil, nil, errors.Join(term.BadInput("name the folder of the trail with --ledger", "the trail cannot be used: %s", term.Cause(err)), state.Close())
		}
	}
	shut := func() error {
		if trail == nil {
			return state.Close()
		}
		return errors.Join(trail.Close(), state.Close())
	}
	if r, err = k.OpenReview(root, trail); err != nil {
		return nil, nil, errors.Join(planFault(err), shut())
	}
	r.ReadTrail(dir)
	return r, func() error { return errors.Join(r.Close(), shut()) }, nil
}

// planFault says an error of the workspace to the person at the terminal.
func planFault(err error) error {
	if err == nil {
		return nil
	}
	e := candor.From(err)
	hint := e.Suggestion()
	switch e.Code() { // what an agent is told to do is nothing for a person
	case kaizacode.PlanNotFound:
		hint = "candor workbench plans lists those of this folder; name another workspace with --root, and the server's folder with --state"
	case candor.CodeLedgerLocked:
		hint = "try again when that call has ended, or give a longer --wait; nothing was changed"
	case kaizacode.InvalidInputValue:
		if e.Details().Get("plans").IsZero() { // else the hash is too short
			hint = "give another --by, or a shorter --note, without control characters"
		}
	case kaizacode.InvariantViolation:
		hint = "when the disk works again, look with candor workbench plans whether the plan is approved"
	}
	return term.BadInput(hint, "%s: %s", e.Code().Symbol(), e.Message())
}

func (c *planCommand) list() (err error) {
	r, closing, err := c.open(false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	listing, err := r.Plans().List()
	if err != nil {
		return planFault(err)
	}
	if c.json {
		return term.WriteJSONLine(c.env.Out, listing)
	}
	if len(listing.Plans) == 0 {
		fmt.Fprintln(c.env.Out, "There is no plan yet. A planner submits one with submit_plan.")
		return nil
	}
	paint := c.env.Colors()
	for _, p := range listing.Plans {
		word := paint.Warn(term.Pad("proposed", 8))
		switch {
		case p.Status == plan.StatusApproved:
			word = paint.Good(term.Pad("approved", 8))
		case p.Status == plan.StatusExpired:
			word = paint.Warn(term.Pad("expired", 8))
		case p.Status == plan.StatusUsedUp:
			word = paint.Warn(term.Pad("used up", 8))
		case p.Problem != "":
			word = paint.Bad(term.Pad("harmed", 8))
		}
		fmt.Fprintf(c.env.Out, "%s  %s  %s%s\n", paint.Name(p.Hash[:12]), word, p.Title, limitsListed(p))
		if p.Problem != "" {
			fmt.Fprintf(c.env.Out, "%s%s\n", term.Pad("", 24), p.Problem)
		}
	}
	if listing.More > 0 {
		fmt.Fprintf(c.env.Out, "And %d more, which approve finds by their hashes.\n", listing.More)
	}
	return nil
}

// approve shows a plan, asks, and approves exactly what was shown.
func (c *planCommand) approve(name string) (err error) {
	if err := c.checkLimits(); err != nil {
		return err
	}
	r, closing, err := c.open(true)
	if err != nil {
		return err
	}
	defer func() { err = c.afterwards(r, err, closing()) }()
	shown, err := r.Plans().Load(name)
	if err != nil {
		return planFault(err)
	}
	if !c.json {
		if err := c.show(r, shown); err != nil {
			return err
		}
	}
	if err := c.asks("Approve this plan?"); err != nil {
		return err
	}
	done := c.waiting()
	stored, err := r.Approve(term.Context(c.cmd.Context()), shown.Hash, c.person(), c.note, plan.Limits{For: c.lasts, Uses: c.uses})
	done()
	if err != nil {
		return planFault(err)
	}
	return c.say("approved", stored)
}

// maxLasts is the longest time that an approval can be limited to.
const maxLasts = 366 * 24 * time.Hour

func (c *planCommand) checkLimits() error {
	switch flags := c.cmd.Flags(); {
	case flags.Changed("expires") && (c.lasts < time.Second || c.lasts > maxLasts):
		return term.BadInput("such as --expires 2h", "--expires must be 1s to %s, not %s", maxLasts, c.lasts)
	case flags.Changed("uses") && (c.uses < 1 || c.uses > plan.MaxUses):
		return term.BadInput("such as --uses 1", "--uses must be 1 to %d, not %d", plan.MaxUses, c.uses)
	}
	return nil
}

func (c *planCommand) show(r *kaiza.Review, shown plan.Stored) error {
	previous, err := r.Plans().Previous(shown.Hash)
	if err != nil {
		return planFault(err)
	}
	files, more, err := r.Files(term.Context(c.cmd.Context()))
	if err != nil {
		return planFault(err)
	}
	if err := plan.Review(c.env.Out, previous, shown, files, more, c.env.Colors().On); err != nil {
		return err
	}
	return c.env.Out.Flush()
}

func (c *planCommand) revoke(name string) (err error) {
	r, closing, err := c.open(true)
	if err != nil {
		return err
	}
	defer func() { err = c.afterwards(r, err, closing()) }()
	hash, err := r.Plans().Approvable(name) // whatever has become of its file: it may come back
	if err != nil {
		return planFault(err)
	}
	if !r.Revocable(hash) {
		return &term.Error{Code: term.ExitFound, Text: "plan " + hash[:12] + " is not approved; nothing was changed"}
	}
	if err := c.asks("Take the approval of " + hash[:12] + " back?"); err != nil {
		return err
	}
	done := c.waiting()
	stored, err := r.Revoke(term.Context(c.cmd.Context()), hash, c.person())
	done()
	if err != nil {
		return planFault(err)
	}
	return c.say("revoked", stored)
}

// afterwards is the end of a command that decides. Once a decision was made, whatever fails is a warning: the decision stands.
func (c *planCommand) afterwards(r *kaiza.Review, err, closing error) error {
	if err != nil {
		return errors.Join(err, closing)
	}
	c.warn(r)
	if closing != nil {
		c.env.Notify(c.cmd, "warning: it is done, and the trail could not be closed: "+candor.From(closing).Message(), "")
	}
	return nil
}

// Warn prints the warnings of the last decision.
func (c *planCommand) warn(r *kaiza.Review) {
	for _, warning := range r.Warnings() {
		c.env.Notify(c.cmd, "warning: "+warning, "")
	}
}

// asks returns nil if the person says yes.
func (c *planCommand) asks(question string) error {
	switch {
	case c.yes:
		return nil
	case c.json || !c.env.Interactive:
		return term.BadInput("look at it first, then give --yes", "the question cannot be asked: standard input and output are not a terminal, or --json is given")
	}
	if !term.Ask(c.env, question) {
		return &term.Error{Code: term.ExitFound, Text: "nothing was changed"}
	}
	return nil
}

func (c *planCommand) say(done string, stored plan.Stored) error {
	if c.json {
		said := map[string]any{"plan_hash": stored.Hash, "approved": stored.Approved(), "by": c.person()}
		if stored.Plan != nil {
			said["title"] = stored.Plan.Title
		}
		if a := stored.Approval; a != nil && a.Expires != nil {
			said["expires"] = a.Expires
		}
		if a := stored.Approval; a != nil && a.Uses > 0 {
			said["uses"] = a.Uses
		}
		return term.WriteJSONLine(c.env.Out, said)
	}
	title := "its file is harmed, or gone"
	if stored.Plan != nil {
		title = stored.Plan.Title
	}
	fmt.Fprintf(c.env.Out, "%s %s: %s%s\n", c.env.Colors().Good(done), stored.Hash, title, limitsOf(stored.Approval))
	return nil
}

// limitsOf says how an approval ends by itself, or nothing.
func limitsOf(a *plan.Approval) (text string) {
	if a != nil && a.Expires != nil {
		text += ", until " + a.Expires.UTC().Format(time.RFC3339)
	}
	if a != nil && a.Uses > 0 {
		text += fmt.Sprintf(", for %d of %d changes", a.Uses-len(a.Used), a.Uses)
	}
	return text
}

// limitsListed says how the approval of a listed plan ends by itself, or nothing.
func limitsListed(p plan.Summary) string {
	a := &plan.Approval{Expires: p.Expires, Uses: p.Uses}
	if p.UsesLeft != nil {
		a.Used = make([]string, p.Uses-*p.UsesLeft)
	}
	return limitsOf(a)
}

// person names who decides.
func (c *planCommand) person() string {
	if c.by != "" {
		return c.by
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
