// Package kaiza is a governed file workspace: one role plans, a person approves, another role executes within the plan,
// and every call, change and refusal is recorded in a tamper-evident trail. It implements the KAIZA contract:
//
//   - every failure is recorded and then sent as the complete envelope; its code alone determines what to do;
//   - a path, link or patch cannot read or write anything outside the workspace;
//   - a change is reserved in the trail, journalled, committed atomically, checked by the operator's commands, and undone if
//     they fail or if its end cannot be recorded;
//   - a broken rule locks the session, also across restarts; a report below docs/reports/ unlocks it. A wrong path never
//     locks.
package kaiza

import (
	"slices"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/policy"
	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// The roles of the contract. The role of a session never changes.
const (
	Planner  = "ANTIGRAVITY" // writes plans
	Executor = "WINDSURF"    // changes files within an approved plan
)

// Domain is the domain of the codes of the contract.
const Domain = "kaiza"

// Options configures a [System].
type Options struct {
	// Root is an absolute path. Every workspace is this folder or below it.
	Root string
	// State holds approvals, locks and journals.
	State *workbench.State
	// Private lists the folders of the state, the trail and the keys. The self-audit checks that sessions cannot reach them.
	Private []string
	// Policy checks written content; nil selects the built-in policy.
	Policy *policy.Policy
	// PolicyFile is the file of the policy. The self-audit checks that sessions cannot reach it.
	PolicyFile string
	// ReadOnly refuses every change.
	ReadOnly bool
	// Drill adds a tool that fails on request, for testing clients.
	Drill bool
	// Preflight configures how the operator's commands run.
	Preflight preflight.Options
	// Flags says which flags of the server the operator's commands need too: ", with the --state of this server", or "".
	Flags string
	// Command returns an operator's command for a workspace, with all flags as a shell reads them.
	Command func(command, root string) string
	// AskClient lets the client ask its user to approve a plan, when it is submitted.
	AskClient bool
	// LockWait limits the wait for another process that is changing the same workspace; 0 means 5 seconds.
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
	if o.Command == nil {
		o.Command = func(command, _ string) string { return command }
	}
	if o.LockWait == 0 {
		o.LockWait = defaultLockWait
	}
	return &System{o: o, approvals: approvals, now: time.Now}, nil
}

const instructions = `A governed file workspace. Call begin_session first, with the absolute path of the workspace and your role.
A planner (or ANTIGRAVITY) plans: submit_plan stores a plan with the files it may touch, and a person approves it with "candor workbench approve".
An executor (or WINDSURF) executes: write_file, edit_file, apply_patch and delete_file need the hash of an approved plan that covers the files.
Every error has a code and says what to do next. If the session is locked, write a report below docs/reports/ with write_file.`

// Describe returns the system for [workbench.Open].
func (k *System) Describe() workbench.System {
	return workbench.System{
		Name: "kaiza", Title: "Governed workspace", Instructions: instructions, Dialect: "system-error", Domain: Domain,
		Tools: k.tools(), Invariants: k.invariants(), Gate: k.gate, Refine: k.refine, Failed: k.failed,
	}
}

func (k *System) tools() []workbench.Tool {
	tools := slices.Concat(k.sessionTools(), k.readTools(), k.changeTools(), k.planTools(), []workbench.Tool{k.editFile(), k.runChecks(), k.readAuditLog()})
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

// everywhere lists the codes that any call can raise; inSession lists those that any call except begin_session can
// raise.
var (
	everywhere = []candor.Code{
		kaizacode.InvalidInputType, kaizacode.InvalidInputFormat, kaizacode.InvalidInputValue, kaizacode.MissingRequiredField,
		kaizacode.SelfAuditFailure, kaizacode.AuditLogFailed, kaizacode.AuditLockFailed, kaizacode.InternalError,
		candor.CodeCancelled,
	}
	inSession = []candor.Code{
		kaizacode.SessionNotInitialized, kaizacode.SessionLocked, kaizacode.RoleMismatch, kaizacode.UnauthorizedAction,
		kaizacode.InvariantViolation, kaizacode.BootstrapFailure,
	}
)

// folder opens a workspace.
func (k *System) folder(root string) (*workspace.Folder, error) {
	return workspace.Open(root, workspace.Options{ReadOnly: k.o.ReadOnly})
}
