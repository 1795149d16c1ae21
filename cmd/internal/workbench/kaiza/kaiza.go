// Package kaiza is a governed file workspace: one role plans, a person approves, another role executes within the plan, and every
// call, change and refusal stands in a trail that cannot be edited unseen.
//
// It is the system of the KAIZA contract, which its original described and did not keep. What it promises:
//
//   - every failure leaves as the whole envelope, is recorded before it is sent, and says by its code alone what to do;
//   - nothing outside the workspace is read or written, whatever a path, a link or a patch says;
//   - a change is reserved in the trail, journalled, committed as a whole, checked by the operator's commands, and undone if they
//     fail or if its end cannot be recorded;
//   - a broken rule locks the session, also across restarts; a report below docs/reports/ unlocks it. A wrong path never locks.
package kaiza

import (
	"context"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/policy"
	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// The roles. A session has one, and keeps it.
const (
	Planner  = "ANTIGRAVITY" // writes plans
	Executor = "WINDSURF"    // changes files as an approved plan allows
)

// Domain is that of its codes.
const Domain = "kaiza"

// Options are the operator's.
type Options struct {
	// Root is the folder that every workspace must be or be in; absolute.
	Root string
	// State is where approvals, locks and journals are kept.
	State *workbench.State
	// Policy judges what is written; nil is the built-in one.
	Policy *policy.Policy
	// PolicyFile is where it was read from, so that the audit can see that it lies out of reach.
	PolicyFile string
	// ReadOnly refuses every change.
	ReadOnly bool
	// AllowHardLinks lets files with a second name be read.
	AllowHardLinks bool
	// Drill adds a tool that fails on request, to try what a client makes of it.
	Drill bool
	// Preflight says how the operator's commands are run.
	Preflight preflight.Options
	// LockWait bounds the wait for another process that is changing the same workspace; 0 is 5 seconds.
	LockWait time.Duration
}

// System is the workspace server, to be run by [workbench.Open].
type System struct {
	o         Options
	approvals *plan.Approvals
	now       func() time.Time
}

const defaultLockWait = 5 * time.Second

// New returns the system.
func New(o Options) (*System, error) {
	approvals, err := plan.Open(o.State.Root())
	if err != nil {
		return nil, err
	}
	if o.Policy == nil {
		o.Policy = policy.Default()
	}
	if o.LockWait == 0 {
		o.LockWait = defaultLockWait
	}
	return &System{o: o, approvals: approvals, now: time.Now}, nil
}

const instructions = `A governed file workspace. Call begin_session first, with the absolute path of the workspace and your role.
A planner (or ANTIGRAVITY) plans: submit_plan stores a plan with the files it may touch, and a person approves it with "candor workbench approve".
An executor (or WINDSURF) executes: write_file, apply_patch, move_file, delete_file, make_dir and set_executable need the hash of an approved plan that covers the files.
Every error has a code and says what to do next. If the session is locked, write a report below docs/reports/ with write_file.`

// Describe returns what the workbench runs.
func (k *System) Describe() workbench.System {
	return workbench.System{
		Name: "kaiza", Title: "Governed workspace", Instructions: instructions, Dialect: "system-error", Domain: Domain,
		Tools: k.tools(), Invariants: k.invariants(), Gate: k.gate, Refine: k.refine, Failed: k.failed, Lists: k.lists,
	}
}

// Start puts right what a crash has left half done, in every workspace that this state folder knows.
func (k *System) Start(ctx context.Context, b *workbench.Bench) { k.recoverAll(ctx, b) }

func (k *System) tools() []workbench.Tool {
	tools := []workbench.Tool{
		k.beginSession(), k.sessionStatus(), k.readFile(), k.listDir(), k.searchFiles(), k.writeFile(), k.applyPatch(),
		k.moveFile(), k.deleteFile(), k.makeDir(), k.setExecutable(),
		k.submitPlan(), k.listPlans(), k.readPlan(), k.lintPlan(), k.readAuditLog(),
	}
	if k.o.Drill {
		tools = append(tools, drill())
	}
	for i := range tools {
		t := &tools[i]
		t.Codes = append(t.Codes, everywhere...)
		if t.Name != "begin_session" {
			t.Input = withClaims(t.Input)
			t.Codes = append(t.Codes, inSession...)
		}
	}
	return tools
}

// everywhere are the codes that any call can raise, and inSession those that any call but begin_session can.
var (
	everywhere = []candor.Code{
		kaizacode.InvalidInputType, kaizacode.InvalidInputFormat, kaizacode.InvalidInputValue, kaizacode.MissingRequiredField,
		kaizacode.SelfAuditFailure, candor.CodeLedgerFailed, candor.CodeLedgerLocked, kaizacode.InternalError,
		candor.CodeCancelled,
	}
	inSession = []candor.Code{
		kaizacode.SessionNotInitialized, kaizacode.SessionLocked, kaizacode.RoleMismatch, kaizacode.UnauthorizedAction,
		kaizacode.InvariantViolation, kaizacode.BootstrapFailure,
	}
)

// folder opens a workspace.
func (k *System) folder(root string) (*workspace.Folder, error) {
	return workspace.Open(root, workspace.Options{AllowHardLinks: k.o.AllowHardLinks, ReadOnly: k.o.ReadOnly})
}
