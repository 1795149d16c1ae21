package kaiza

import (
	"bytes"
	"context"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/patch"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

type writeArgs struct {
	Path         string  `json:"path"`
	Content      *string `json:"content"`
	Patch        *string `json:"patch"`
	PreviousHash string  `json:"previous_hash"`
	Plan         string  `json:"plan_hash"`
	MakeDirs     bool    `json:"make_dirs"`
}

const previousProperty = `"previous_hash":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"The hash that read_file returned. Needed to replace or delete a file."}`

const planProperty = `"plan_hash":{"type":"string","pattern":"^[0-9a-f]{8,64}$","description":"The hash of an approved plan that covers the file. Not needed below docs/reports/."}`

// changeCodes lists the codes of tools that change files.
var changeCodes = append([]candor.Code{
	kaizacode.InsufficientPermissions, kaizacode.FileNotFound, kaizacode.FileAlreadyExists, kaizacode.FileReadFailed,
	kaizacode.FileWriteFailed, kaizacode.PatchInvalid, kaizacode.PatchApplyFailed, kaizacode.HashMismatch,
	kaizacode.PlanNotFound, kaizacode.PlanNotApproved, kaizacode.PlanEnforcementFailed, kaizacode.PlanScopeViolation,
	kaizacode.PolicyViolation, kaizacode.RustPolicyViolation, kaizacode.PreflightFailed,
}, pathCodes...)

func (k *System) changeTools() []workbench.Tool {
	return []workbench.Tool{
		{
			Name: "write_file", Title: "Write a file", Destructive: true, Idempotent: true,
			About: "Create a file, or replace one whose hash you give as previous_hash, within an approved plan. " +
				"Below docs/reports/ no plan is needed, and a report written there unlocks a locked session.",
			Input: `{` + pathProperty + `,
"content":{"type":"string","maxLength":8388608,"description":"The whole new content. Give this or patch."},
"patch":{"type":"string","maxLength":1048576,"description":"A unified diff against the current content. Give this or content."},
	` + previousProperty + `,
	` + planProperty + `,
"make_dirs":{"type":"boolean","description":"Make missing folders on the way."}}`,
			Required: []string{"path"},
			Codes:    changeCodes,
			Run:      workbench.Handle(k.write),
		},
		{
			Name: "delete_file", Title: "Delete a file", Destructive: true,
			About:    "Delete a file whose hash you give as previous_hash, within an approved plan.",
			Input:    `{` + pathProperty + `,` + previousProperty + `,` + planProperty + `}`,
			Required: []string{"path", "previous_hash", "plan_hash"},
			Codes:    changeCodes,
			Run:      workbench.Handle(k.delete),
		},
		{
			Name: "apply_patch", Title: "Apply a patch", Destructive: true,
			About: "Apply a unified diff that changes, creates or removes files, all of them or none, within an approved plan.",
			Input: `{"patch":{"type":"string","minLength":1,"maxLength":1048576,"description":"A unified diff with paths relative to the workspace."},
	` + planProperty + `}`,
			Required: []string{"patch", "plan_hash"},
			Codes:    changeCodes,
			Run:      workbench.Handle(k.patch),
		},
	}
}

func (k *System) write(ctx context.Context, c *workbench.Call, in writeArgs) (workbench.Reply, error) {
	d, p, err := k.named(c, in.Path)
	if err != nil {
		return workbench.Reply{}, err
	}
	if (in.Content == nil) == (in.Patch == nil) {
		return workbench.Reply{}, wrongValue("/content", "give either content or patch")
	}
	ch := &change{plan: in.Plan, report: inReports(p)}
	if err := k.needsPlan(d, ch, p); err != nil {
		return workbench.Reply{}, err
	}
	before, err := current(d, p, in.PreviousHash, in.Patch != nil)
	if err != nil {
		return workbench.Reply{}, err
	}
	var after []byte
	if in.Patch != nil {
		after, err = patched(*in.Patch, before)
	} else {
		after = []byte(*in.Content)
	}
	if err != nil {
		return workbench.Reply{}, err
	}
	if ch.report && !bytes.ContainsFunc(after, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return workbench.Reply{}, wrongValue("/content", "a report must say something")
	}
	if ch.report && before != nil && bytes.Equal(before.Content, after) && d.locked() != nil {
		return workbench.Reply{}, wrongValue("/content", "this report was there before; say what has happened since")
	}
	ch.files = []workspace.Change{{Path: p, Before: before, After: after, MakeDirs: in.MakeDirs || ch.report}}
	done, err := k.finish(ctx, c, d, ch)
	if candor.CodeOf(err) == kaizacode.PathNotFound && !ch.files[0].MakeDirs {
		err = candor.From(err).With(candor.WithSuggestion("Give make_dirs: true to have the missing folders made, or choose a folder that exists."))
	}
	return done, err
}

type deleteArgs struct {
	Path         string `json:"path"`
	PreviousHash string `json:"previous_hash"`
	Plan         string `json:"plan_hash"`
}

func (k *System) delete(ctx context.Context, c *workbench.Call, in deleteArgs) (workbench.Reply, error) {
	d, p, err := k.named(c, in.Path)
	if err != nil {
		return workbench.Reply{}, err
	}
	ch := &change{plan: in.Plan}
	if err := k.needsPlan(d, ch, p); err != nil {
		return workbench.Reply{}, err
	}
	before, err := current(d, p, in.PreviousHash, true)
	if err != nil {
		return workbench.Reply{}, err
	}
	ch.files = []workspace.Change{{Path: p, Before: before, Delete: true}}
	return k.finish(ctx, c, d, ch)
}

// finish applies a change and returns the reply.
func (k *System) finish(ctx context.Context, c *workbench.Call, d *openWorkspace, ch *change) (workbench.Reply, error) {
	wasLocked := d.locked()
	if err := k.apply(ctx, c, d, ch); err != nil {
		return workbench.Reply{}, err
	}
	out := map[string]any{"files": changed(ch.files), "checks": ch.checkNames()}
	if ch.plan != "" {
		out["plan_hash"] = ch.plan
	}
	if ch.report && wasLocked != nil {
		if still := d.locked(); still != nil {
			out["still_locked"] = still.shownTo(c.Session.ID)
		} else {
			out["unlocked"] = wasLocked.shownTo(c.Session.ID)
		}
	}
	return reply(out)
}

// needsPlan resolves an abbreviated plan hash, so that the trail has the full hash, and checks that the plan covers the
// paths. It comes before anything else about the files: an executor must not learn of files outside of its plan, nor be
// advised to go on with them.
func (k *System) needsPlan(d *openWorkspace, ch *change, paths ...workspace.Path) error {
	switch {
	case ch.report:
		ch.plan = ""
		return nil
	case ch.plan == "":
		return candor.New(kaizacode.MissingRequiredField, "plan_hash is missing: a change needs an approved plan.",
			candor.WithIssues(candor.Issue{Path: "/plan_hash", Rule: "required", Message: "is missing"}),
			candor.WithSuggestion("Choose an approved plan with list_plans and give its hash as plan_hash."))
	}
	stored, err := d.plans.Load(ch.plan)
	if err != nil {
		return err
	}
	ch.plan = stored.Hash
	for _, p := range paths {
		if err := stored.Enforce(p.String()); err != nil {
			return err
		}
	}
	return nil
}

// current returns the file on disk, or nil if it does not exist and is not required.
func current(d *openWorkspace, p workspace.Path, previous string, patching bool) (*workspace.File, error) {
	file, err := d.folder.Read(p)
	code := candor.CodeOf(err)
	switch {
	case code == kaizacode.FileNotFound || code == kaizacode.PathNotFound:
		if previous != "" || patching {
			return nil, err
		}
		return nil, nil //nolint:nilnil // the file does not exist and is not required
	case code == kaizacode.FileReadFailed && !patching: // a folder, or not a replaceable file
		return nil, candor.New(kaizacode.FileWriteFailed, candor.From(err).Message(), candor.WithCause(err),
			candor.WithSuggestion("List the folder and choose the name of a file, or a new name."))
	case err != nil:
		return nil, err
	case previous == "" && !patching:
		return nil, candor.New(kaizacode.FileAlreadyExists, p.String()+" exists already.",
			candor.WithSuggestion("Read the file and give its hash as previous_hash to replace it, or choose another name."))
	case previous != "" && previous != file.Hash:
		return nil, candor.New(kaizacode.HashMismatch, p.String()+" has changed since its hash was taken.")
	}
	return &file, nil
}

// patched applies a patch of exactly one file and ignores its name in the patch.
func patched(text string, before *workspace.File) ([]byte, error) {
	file, err := patch.ParseOne([]byte(text))
	if err != nil {
		return nil, err
	}
	return file.Apply(before.Content)
}

// wrongValue returns INVALID_INPUT_VALUE with the reason in the message, because the envelope of this system does not
// have a member for issues.
func wrongValue(path, message string) *candor.Error {
	issue := candor.Issue{Path: path, Rule: "value", Message: message}
	return candor.New(kaizacode.InvalidInputValue, sentence(kaizacode.InvalidInputValue, issue)+".", candor.WithIssues(issue))
}

type patchArgs struct {
	Patch string `json:"patch"`
	Plan  string `json:"plan_hash"`
}

func (k *System) patch(ctx context.Context, c *workbench.Call, in patchArgs) (workbench.Reply, error) {
	d, err := k.at(c)
	if err != nil {
		return workbench.Reply{}, err
	}
	files, err := patch.Parse([]byte(in.Patch))
	if err != nil {
		return workbench.Reply{}, err
	}
	ch := &change{plan: in.Plan}
	paths := make([]workspace.Path, len(files))
	for i, f := range files {
		if paths[i], err = d.folder.Parse(f.Name()); err != nil {
			return workbench.Reply{}, err
		}
	}
	if err := k.needsPlan(d, ch, paths...); err != nil {
		return workbench.Reply{}, err
	}
	for i, f := range files {
		one, err := patchOne(d, paths[i], f)
		if err != nil {
			return workbench.Reply{}, err
		}
		ch.files = append(ch.files, one)
	}
	return k.finish(ctx, c, d, ch)
}

// patchOne returns the change that a patch makes to one file.
func patchOne(d *openWorkspace, p workspace.Path, f patch.File) (workspace.Change, error) {
	if f.Kind == patch.Create {
		_, err := current(d, p, "", false)
		if candor.CodeOf(err) == kaizacode.FileAlreadyExists {
			err = candor.From(err).With(candor.WithSuggestion("Give a patch of the file as it is, with its name after ---, or choose another name."))
		}
		if err != nil {
			return workspace.Change{}, err
		}
		after, err := f.Apply(nil)
		return workspace.Change{Path: p, After: after, MakeDirs: true}, err
	}
	before, err := current(d, p, "", true)
	if err != nil {
		return workspace.Change{}, err
	}
	after, err := f.Apply(before.Content)
	return workspace.Change{Path: p, Before: before, After: after, Delete: f.Kind == patch.Delete}, err
}
