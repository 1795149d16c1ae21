package kaiza

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// guarded refuses a workspace in a protected folder of the enclosing workspace or inside a git repository: reports do
// not need a plan, so a session there could write files that sessions of the enclosing workspace may not. The root
// itself is the operator's choice.
func (k *System) guarded(root string) error {
	rel, err := filepath.Rel(k.o.Root, root)
	if err != nil || rel == "." {
		return nil //nolint:nilerr // the caller has checked that it is inside
	}
	rel = filepath.ToSlash(rel)
	found := plan.NotAWorkspace(rel)
	if last := filepath.Base(k.o.Root); found == "" && plan.NotAWorkspace(last) == "" {
		found = plan.NotAWorkspace(last + "/" + rel) // the root itself may be named docs
	}
	if found == "" {
		found = k.repositoryAbove(rel)
	}
	if found == "" {
		return nil
	}
	return candor.New(kaizacode.BootstrapFailure, "A workspace may not be in "+found+", whose files are guarded.",
		candor.WithSuggestion("Choose the folder of the project as the workspace, or have the operator start the server with this folder as --root."),
		candor.WithDetails(map[string]any{"reason": "guarded_folder", "folder": found}))
}

// repositoryAbove returns the first folder on the path to a workspace that looks like a git repository without a work tree, such as
// project.git.
func (k *System) repositoryAbove(rel string) string {
	at := k.o.Root
	for segment := range strings.SplitSeq(rel, "/") {
		at = filepath.Join(at, segment)
		if isFolder(filepath.Join(at, "objects")) && isFolder(filepath.Join(at, "refs")) && exists(filepath.Join(at, "HEAD")) {
			return segment
		}
	}
	return ""
}

func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// judged returns the name under which a file is checked against a plan. If the workspace is the docs folder of another one, plans/x is
// checked as docs/plans/x.
func (d *openWorkspace) judged(name string) string {
	docs := filepath.Base(d.folder.Root())
	if !plan.Ordinary(docs+"/"+name) && plan.Ordinary(docs) && plan.Ordinary(name) {
		return docs + "/" + name
	}
	return name
}
