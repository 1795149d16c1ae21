package kaiza

import (
	"context"
	"io/fs"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

const previousProperty = `"previous_hash":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"The hash that read_file returned."}`

// modeWith returns the mode of a file with the executable bit set, for everyone who can read it, or cleared. nil means no change.
func modeWith(before *workspace.File, executable *bool) *fs.FileMode {
	if executable == nil {
		return nil
	}
	mode := fs.FileMode(0o644)
	if before != nil {
		mode = before.Mode.Perm()
	}
	if *executable {
		mode |= mode & 0o444 >> 2
	} else {
		mode &^= 0o111
	}
	return &mode
}

// begun returns the workspace, the path and the full plan hash of a call that makes a change.
func (k *System) begun(c *workbench.Call, name, hash string) (*openWorkspace, workspace.Path, *change, error) {
	d, p, err := k.named(c, name)
	if err != nil {
		return nil, p, nil, err
	}
	ch := &change{plan: hash}
	return d, p, ch, k.needsPlan(d, ch)
}

type moveArgs struct {
	Path         string `json:"path"`
	To           string `json:"to"`
	PreviousHash string `json:"previous_hash"`
	ReplacedHash string `json:"replaced_hash"`
	Plan         string `json:"plan_hash"`
	MakeDirs     bool   `json:"make_dirs"`
}

func (k *System) moveFile() workbench.Tool {
	return workbench.Tool{
		Name: "move_file", Title: "Move a file", Destructive: true,
		About: "Give a file another name or folder, within an approved plan that covers both names. Content and mode stay as they are. " +
			"An existing file with the new name is replaced only if its hash is given as replaced_hash. Folders are not moved.",
		Input: `{` + pathProperty + `,
"to":{"type":"string","minLength":1,"maxLength":4096,"description":"The new name, relative to the workspace."},
` + previousProperty + `,
"replaced_hash":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"The hash of the file under the new name, to replace it."},
"make_dirs":{"type":"boolean","description":"Make missing folders on the way to the new name."},
` + planProperty + `}`,
		Required: []string{"path", "to", "plan_hash"},
		Codes:    changeCodes,
		Run:      workbench.Handle(k.move),
	}
}

func (k *System) move(ctx context.Context, c *workbench.Call, in moveArgs) (workbench.Reply, error) {
	d, p, ch, err := k.begun(c, in.Path, in.Plan)
	if err != nil {
		return workbench.Reply{}, err
	}
	to, err := d.folder.Parse(in.To)
	if err != nil {
		return workbench.Reply{}, err
	}
	from, err := current(d, p, in.PreviousHash, true)
	if err != nil {
		return workbench.Reply{}, err
	}
	if to == p {
		return workbench.Reply{}, wrongValue("/to", "it is the name that the file has")
	}
	if d.folder.SameFile(p, to) {
		return workbench.Reply{}, candor.New(kaizacode.FileAlreadyExists, p.String()+" and "+to.String()+" are one file on this file system.",
			candor.WithSuggestion("Move the file to a name that differs by more than upper and lower case, and from there to the name that you want."))
	}
	replaced, err := current(d, to, in.ReplacedHash, false)
	if candor.CodeOf(err) == kaizacode.FileAlreadyExists {
		err = candor.From(err).With(candor.WithSuggestion("Choose another name, or read the file under it and give its hash as replaced_hash to replace it."))
	}
	if err != nil {
		return workbench.Reply{}, err
	}
	ch.files = workspace.Move(*from, to, replaced, in.MakeDirs)
	done, err := k.finish(ctx, c, d, ch)
	return done, orMakeDirs(err, in.MakeDirs)
}

// orMakeDirs adds a suggestion to use make_dirs if only a folder is missing.
func orMakeDirs(err error, given bool) error {
	if candor.CodeOf(err) != kaizacode.PathNotFound || given {
		return err
	}
	return candor.From(err).With(candor.WithSuggestion("Give make_dirs: true to have the missing folders made, or choose a folder that exists."))
}

type deleteArgs struct {
	Path         string `json:"path"`
	PreviousHash string `json:"previous_hash"`
	Plan         string `json:"plan_hash"`
}

func (k *System) deleteFile() workbench.Tool {
	return workbench.Tool{
		Name: "delete_file", Title: "Delete a file", Destructive: true,
		About: "Delete a file whose hash you give as previous_hash, or an empty folder, within an approved plan.",
		Input: `{` + pathProperty + `,
` + previousProperty + `,
` + planProperty + `}`,
		Required: []string{"path", "plan_hash"},
		Codes:    changeCodes,
		Run:      workbench.Handle(k.delete),
	}
}

func (k *System) delete(ctx context.Context, c *workbench.Call, in deleteArgs) (workbench.Reply, error) {
	d, p, ch, err := k.begun(c, in.Path, in.Plan)
	if err != nil {
		return workbench.Reply{}, err
	}
	if p.String() == "." {
		return workbench.Reply{}, candor.New(kaizacode.InvalidPath, "The path is the workspace itself, which cannot be deleted.",
			candor.WithSuggestion("Name a file or an empty folder in the workspace."))
	}
	if d.folder.IsFolder(p) {
		ch.files = []workspace.Change{{Path: p, Folder: true, Delete: true}}
		return k.finish(ctx, c, d, ch)
	}
	before, err := current(d, p, in.PreviousHash, true)
	if err != nil {
		return workbench.Reply{}, err
	}
	if in.PreviousHash == "" {
		return workbench.Reply{}, candor.New(kaizacode.MissingRequiredField, "previous_hash is missing: read a file before you delete it.",
			candor.WithIssues(candor.Issue{Path: "/previous_hash", Rule: "required", Message: `the key "previous_hash" is missing`}),
			candor.WithSuggestion("Read the file and give its hash as previous_hash."))
	}
	ch.files = []workspace.Change{{Path: p, Before: before, Delete: true}}
	return k.finish(ctx, c, d, ch)
}

type dirArgs struct {
	Path string `json:"path"`
	Plan string `json:"plan_hash"`
}

func (k *System) makeDir() workbench.Tool {
	return workbench.Tool{
		Name: "make_dir", Title: "Make a folder",
		About: "Make a folder, with those on the way to it that are missing, within an approved plan.",
		Input: `{` + pathProperty + `,
` + planProperty + `}`,
		Required: []string{"path", "plan_hash"},
		Codes:    changeCodes,
		Run:      workbench.Handle(k.mkdir),
	}
}

func (k *System) mkdir(ctx context.Context, c *workbench.Call, in dirArgs) (workbench.Reply, error) {
	d, p, ch, err := k.begun(c, in.Path, in.Plan)
	if err != nil {
		return workbench.Reply{}, err
	}
	if d.folder.IsFolder(p) {
		return workbench.Reply{}, candor.New(kaizacode.FileAlreadyExists, p.String()+" is a folder that exists already.",
			candor.WithSuggestion("Continue: the folder exists."))
	}
	ch.files = []workspace.Change{{Path: p, Folder: true, MakeDirs: true}}
	return k.finish(ctx, c, d, ch)
}

type executableArgs struct {
	Path         string `json:"path"`
	Executable   bool   `json:"executable"`
	PreviousHash string `json:"previous_hash"`
	Plan         string `json:"plan_hash"`
}

func (k *System) setExecutable() workbench.Tool {
	return workbench.Tool{
		Name: "set_executable", Title: "Set the executable bit", Idempotent: true,
		About: "Set or clear the executable bit of a file, within an approved plan. Its content stays as it is.",
		Input: `{` + pathProperty + `,
"executable":{"type":"boolean","description":"true sets the bit, false clears it."},
` + previousProperty + `,
` + planProperty + `}`,
		Required: []string{"path", "executable", "plan_hash"},
		Codes:    changeCodes,
		Run:      workbench.Handle(k.chmod),
	}
}

func (k *System) chmod(ctx context.Context, c *workbench.Call, in executableArgs) (workbench.Reply, error) {
	d, p, ch, err := k.begun(c, in.Path, in.Plan)
	if err != nil {
		return workbench.Reply{}, err
	}
	before, err := current(d, p, in.PreviousHash, true)
	if err != nil {
		return workbench.Reply{}, err
	}
	ch.files = []workspace.Change{{Path: p, Before: before, After: before.Content, Mode: modeWith(before, &in.Executable)}}
	return k.finish(ctx, c, d, ch)
}
