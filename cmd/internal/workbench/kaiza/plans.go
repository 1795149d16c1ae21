package kaiza

import (
	"context"
	"io/fs"
	"path"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// planFiles accesses the plans folder of a workspace. Writing a plan is a journalled change: the caller must hold the
// lock of the workspace and complete or undo the change.
type planFiles struct {
	k       *System
	d       *openWorkspace
	call    string // the id for the journal; "" for reading only
	note    note
	written *workspace.Staged // nil if no plan was written
}

func (f *planFiles) path(name string) (workspace.Path, error) {
	return f.d.folder.Parse(path.Join(plan.Folder, name))
}

// ReadPlan returns the file of a plan.
func (f *planFiles) ReadPlan(name string) ([]byte, error) {
	p, err := f.path(name)
	if err != nil {
		return nil, err
	}
	file, err := f.d.folder.Read(p)
	if c := candor.CodeOf(err); c == kaizacode.PathNotFound || c == kaizacode.FileNotFound {
		return nil, fs.ErrNotExist
	}
	return file.Content, err
}

// WritePlan writes the file of a plan. The journal remains until the caller ends the change.
func (f *planFiles) WritePlan(name string, content []byte) error {
	p, err := f.path(name)
	if err != nil {
		return err
	}
	one := workspace.Change{Path: p, After: content, MakeDirs: true}
	if file, err := f.d.folder.Read(p); err == nil {
		one.Before = &file
	}
	staged, err := f.k.stage(context.Background(), f.d, f.call, []workspace.Change{one}, f.note) //nolint:contextcheck // a small file
	if err != nil {
		return err
	}
	f.written = staged
	return nil
}

// ListPlans returns all names in the folder, so that an ambiguous prefix is noticed.
func (f *planFiles) ListPlans() ([]string, error) {
	p, err := f.path(".")
	if err != nil {
		return nil, err
	}
	names, err := f.d.folder.Names(p)
	if candor.CodeOf(err) == kaizacode.PathNotFound {
		return nil, nil
	}
	return names, err
}

type planContent struct {
	Content string `json:"content"`
}

const contentProperty = `{"content":{"type":"string","minLength":1,"maxLength":262144,"description":"Markdown with a front matter that has title and scope, a list of globs."}}`

func (k *System) planTools() []workbench.Tool {
	return []workbench.Tool{
		{
			Name: "submit_plan", Title: "Submit a plan", Idempotent: true,
			About:    "Store a plan for a person to approve. It is named by the hash of its content.",
			Input:    contentProperty,
			Required: []string{"content"},
			Codes: append([]candor.Code{kaizacode.FileWriteFailed, kaizacode.FileReadFailed, kaizacode.InsufficientPermissions,
				kaizacode.HashMismatch, kaizacode.PlanEnforcementFailed, kaizacode.PlanNotApproved}, pathCodes...),
			Run: workbench.Handle(k.submit),
		},
		{
			Name: "list_plans", Title: "List plans", ReadOnly: true, Idempotent: true,
			About: "List the plans of the workspace with title, scope and whether they are approved.",
			Codes: append([]candor.Code{kaizacode.FileReadFailed, kaizacode.InsufficientPermissions}, pathCodes...),
			Run: func(_ context.Context, c *workbench.Call) (workbench.Reply, error) {
				d, err := k.at(c)
				if err != nil {
					return workbench.Reply{}, err
				}
				listing, err := d.plans.List()
				if err != nil {
					return workbench.Reply{}, err
				}
				return reply(listing)
			},
		},
		{
			Name: "read_plan", Title: "Read a plan", ReadOnly: true, Idempotent: true,
			About:    "Read a plan by its hash, or its first eight digits or more. Its content is hashed again.",
			Input:    `{"plan_hash":{"type":"string","pattern":"^[0-9a-f]{8,64}$"}}`,
			Required: []string{"plan_hash"},
			Codes: append([]candor.Code{kaizacode.PlanNotFound, kaizacode.PlanNotApproved, kaizacode.PlanEnforcementFailed,
				kaizacode.FileReadFailed, kaizacode.InsufficientPermissions}, pathCodes...),
			Run: workbench.Handle(k.readPlan),
		},
		{
			Name: "lint_plan", Title: "Check a plan", ReadOnly: true, Idempotent: true,
			About:    "Check the text of a plan without storing it: everything that is wrong, with line and column.",
			Input:    contentProperty,
			Required: []string{"content"},
			Run: workbench.Handle(func(_ context.Context, _ *workbench.Call, in planContent) (workbench.Reply, error) {
				parsed, issues := plan.Parse([]byte(in.Content))
				if issues == nil {
					issues = []plan.Issue{}
				}
				return reply(map[string]any{"valid": parsed != nil, "plan_hash": plan.Hash([]byte(in.Content)), "issues": issues})
			}),
		},
	}
}

func (k *System) submit(ctx context.Context, c *workbench.Call, in planContent) (workbench.Reply, error) {
	d, err := k.at(c)
	if err != nil {
		return workbench.Reply{}, err
	}
	lock, err := workspace.Lock(ctx, d.state, k.o.LockWait)
	if err != nil {
		return workbench.Reply{}, err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	if err := k.recoverFirst(ctx, c.Bench(), d); err != nil {
		return workbench.Reply{}, err
	}
	hash := plan.Hash([]byte(in.Content))
	effect, err := c.Reserve(ctx, hash, map[string]any{"plan": hash})
	if err != nil {
		return workbench.Reply{}, err
	}
	plans, files := k.planStore(d, c.ID, note{Tool: c.Name, Plan: hash})
	_, existed, err := plans.Submit([]byte(in.Content))
	var stored plan.Stored
	if err == nil {
		stored, err = plans.Load(hash)
	}
	failed := err != nil
	err = k.settle(c.Bench(), files, err, func() error {
		return effect.Complete(ctx, nil, map[string]any{"plan": hash, "existed": existed})
	})
	if failed {
		err = k.abort(ctx, c, effect, err)
	}
	if err != nil {
		return workbench.Reply{}, err
	}
	_ = lock.Close() // a person may think long
	if k.o.AskClient && c.CanAsk() && !stored.Approved() {
		if stored, err = k.askForApproval(ctx, c, d, stored); err != nil {
			return workbench.Reply{}, err
		}
	}
	next := "Ask a person to run: " + k.o.Command("candor workbench approve "+hash[:12], d.folder.Root())
	if stored.Approved() {
		next = "The plan is approved; an executor can give its hash as plan_hash."
	}
	return reply(map[string]any{"plan_hash": hash, "existed": existed, "approved": stored.Approved(), "path": path.Join(plan.Folder, plan.Name(hash)), "next": next})
}

// settle ends the writing of a plan. It records the end, or undoes the writing because of err.
func (k *System) settle(b recorder, files *planFiles, err error, record func() error) error {
	switch {
	case err != nil && files.written != nil:
		return k.undo(files.written, false, err)
	case err != nil:
		return err
	case files.written != nil:
		return k.complete(b, files.written, record, files.written.Done)
	}
	return record()
}

type planName struct {
	Plan string `json:"plan_hash"`
}

func (k *System) readPlan(_ context.Context, c *workbench.Call, in planName) (workbench.Reply, error) {
	d, err := k.at(c)
	if err != nil {
		return workbench.Reply{}, err
	}
	stored, err := d.plans.Load(in.Plan)
	if err != nil {
		return workbench.Reply{}, err
	}
	about, err := reply(map[string]any{"plan_hash": stored.Hash, "approved": stored.Approved(), "approval": stored.Approval,
		"not_approved_because": stored.Refusal, "title": stored.Plan.Title, "scope": stored.Plan.Scope, "phase": stored.Plan.Phase})
	if err != nil {
		return workbench.Reply{}, err
	}
	return workbench.Reply{Text: []string{string(stored.Body), about.Text[0]}, Data: about.Data}, nil
}
