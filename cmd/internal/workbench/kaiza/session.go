package kaiza

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

type beginArgs struct {
	Root string `json:"workspace_root"`
	Role string `json:"role"`
}

func (k *System) sessionTools() []workbench.Tool {
	return []workbench.Tool{
		{
			Name: "begin_session", Title: "Begin a session",
			About: "Begin to work in a workspace, in one role. Call it once, before anything else.",
			Input: `{"workspace_root":{"type":"string","minLength":1,"maxLength":4096,"description":"Absolute path of an existing folder."},
"role":{"type":"string","enum":["planner","executor","ANTIGRAVITY","WINDSURF"],"description":"The planner, also called ANTIGRAVITY, writes plans; the executor, also called WINDSURF, carries them out."}}`,
			Required: []string{"workspace_root", "role"},
			Codes:    []candor.Code{kaizacode.BootstrapFailure, kaizacode.SessionInitializationFailed, candor.CodeTooManySessions},
			Run:      workbench.Handle(k.begin),
		},
		{
			Name: "session_status", Title: "Session status", ReadOnly: true, Idempotent: true,
			About: "Show the session, its role, whether it is locked and why, and what to do next.",
			Run: func(_ context.Context, c *workbench.Call) (workbench.Reply, error) {
				d, err := k.workspaceOf(c.Session)
				if err != nil {
					return workbench.Reply{}, err
				}
				return reply(k.statusOf(c.Session, d))
			},
		},
	}
}

// begin begins a session. A failure does not affect later attempts.
func (k *System) begin(_ context.Context, c *workbench.Call, in beginArgs) (workbench.Reply, error) {
	if c.Session != nil {
		return workbench.Reply{}, openAlready()
	}
	if err := k.admits(in.Root); err != nil {
		return workbench.Reply{}, err
	}
	d, err := k.open(in.Root)
	if err != nil {
		return workbench.Reply{}, err
	}
	s := workbench.NewSession(in.Role, d.folder.Root(), k.now())
	d.session = s
	bound, err := c.Begin(s, d)
	if errors.Is(err, workbench.ErrSessionOpen) { // a concurrent begin_session was first
		err = openAlready()
	}
	if err != nil {
		return workbench.Reply{}, errors.Join(setUpError(err), d.Close())
	}
	status := k.statusOf(s, d)
	status.Echo = !bound
	return reply(status)
}

func openAlready() error {
	return candor.New(kaizacode.BootstrapFailure, "A session is open already.",
		candor.WithSuggestion("Continue with the open session; session_status shows which one it is."))
}

// setUpError returns a candor error unchanged and wraps any other in SESSION_INITIALIZATION_FAILED, because file system
// errors would map to codes that begin_session does not declare.
func setUpError(err error) error {
	if _, ok := errors.AsType[*candor.Error](err); ok {
		return err
	}
	return notSetUp(err)
}

// admits refuses a workspace outside the root without opening it.
func (k *System) admits(root string) error {
	if !filepath.IsAbs(root) {
		return nil // opening it reports the error
	}
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		resolved = filepath.Clean(root) // if it is inside the root, opening it reports the error
	}
	if inside(k.o.Root, resolved) {
		return nil
	}
	return outsideRoot()
}

func outsideRoot() error {
	return candor.New(kaizacode.BootstrapFailure, "The workspace is not below the folder that this server was started for.",
		candor.WithSuggestion("Choose a workspace below the server's root, or have the operator start it with another --root."),
		candor.WithDetails(map[string]any{"reason": "outside_root"}))
}

// inside reports whether name is the folder or below it.
func inside(folder, name string) bool {
	rel, err := filepath.Rel(folder, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// status is the result of session_status.
type status struct {
	SessionID string   `json:"session_id"`
	Role      string   `json:"role"`
	Root      string   `json:"workspace_root"`
	Begun     string   `json:"begun"`
	ReadOnly  bool     `json:"read_only"`
	Locked    bool     `json:"locked"`
	Lock      *Lock    `json:"lock,omitempty"`
	Next      string   `json:"next"`
	Approved  []string `json:"approved_plans"`
	Echo      bool     `json:"echo_session_id,omitempty"` // every call must name the session
}

const maxApprovedShown = 20

func (k *System) statusOf(s *workbench.Session, d *openWorkspace) status {
	lock := d.locked()
	out := status{SessionID: s.ID, Role: s.Role, Root: s.Root, Begun: s.Begun.Format("2006-01-02T15:04:05.000Z"), ReadOnly: k.o.ReadOnly,
		Locked: lock != nil, Lock: lock.shownTo(s.ID), Approved: []string{}}
	if known, err := k.approvals.List(plan.RootDigest(s.Root)); err == nil { // on error, the status is returned without them
		for _, record := range known {
			if record.By != "" && len(out.Approved) < maxApprovedShown {
				out.Approved = append(out.Approved, record.Plan)
			}
		}
	}
	switch {
	case lock != nil:
		out.Next = "Read what you need, then write a report below " + reportsFolder + " with write_file; that unlocks the session. If you cannot, ask the operator to run " + k.o.Command("candor workbench unlock", s.Root) + "."
	case contractRole(s.Role) == Planner:
		out.Next = "Write a plan with submit_plan, and ask a person to approve it: the answer names the command."
	case len(out.Approved) == 0:
		out.Next = "Wait for an approved plan: list_plans shows them. Without one you may read."
	default:
		out.Next = "Change files with edit_file, write_file or apply_patch, naming the plan_hash of an approved plan that covers them."
	}
	return out
}

// reply returns a value as JSON text and as structured content.
func reply(v any) (workbench.Reply, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return workbench.Reply{}, err
	}
	return workbench.Reply{Text: []string{string(data)}, Data: json.RawMessage(data)}, nil
}
