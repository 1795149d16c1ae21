package kaiza

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// openWorkspace is the open workspace of a session or the operator, with its plans and its state.
type openWorkspace struct {
	folder *workspace.Folder
	state  *os.Root // state folder of this workspace
	plans  *plan.Store

	session *workbench.Session // nil for the operator

	mu      sync.Mutex
	unsaved *Lock // guarded by mu; a lock that could not be written to disk
}

// stateOf returns the folder of a workspace in the state folder.
func stateOf(root string) string { return "workspaces/" + plan.RootDigest(root) }

// Known reports whether a workspace was opened with a state folder before.
func Known(state *workbench.State, root string) bool {
	_, err := state.Root().Stat(stateOf(root))
	return err == nil
}

// workspaceOf returns the workspace of a session. It is opened on first use, also after a restart.
func (k *System) workspaceOf(s *workbench.Session) (*openWorkspace, error) {
	v, err := s.Value(func() (any, error) {
		d, err := k.open(s.Root)
		if err != nil {
			return nil, err
		}
		d.session = s
		return d, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*openWorkspace), nil //nolint:errcheck,forcetypeassert // the only type of value
}

// open opens a workspace and its state. It checks the resolved path of the open folder, because a link may have been swapped since the
// request, and a session may be older than the root of this server.
func (k *System) open(root string) (*openWorkspace, error) {
	folder, err := k.folder(root)
	if err != nil {
		return nil, err
	}
	if !inside(k.o.Root, folder.Root()) {
		return nil, errors.Join(outsideRoot(), folder.Close())
	}
	if err := k.hidden(folder.Root()); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	state, err := k.o.State.Folder(stateOf(folder.Root()))
	if err != nil {
		return nil, errors.Join(notSetUp(err), folder.Close())
	}
	d := &openWorkspace{folder: folder, state: state}
	d.plans, _ = k.planStore(d, "", note{})
	return d, nil
}

// hidden refuses a workspace in a hidden folder below the root, such as .git or .vscode: reports do not need a plan, so a
// session there could write files that sessions of the enclosing workspace may not. The root itself is the operator's
// choice.
func (k *System) hidden(root string) error {
	rel, _ := filepath.Rel(k.o.Root, root) // it is inside
	for segment := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if strings.HasPrefix(segment, ".") && segment != "." {
			return candor.New(kaizacode.BootstrapFailure, "A workspace may not be in the hidden folder "+segment+".",
				candor.WithSuggestion("Choose the folder of the project as the workspace, or have the operator start the server with this folder as --root."),
				candor.WithDetails(map[string]any{"reason": "hidden_folder", "folder": segment}))
		}
	}
	return nil
}

// notSetUp returns SESSION_INITIALIZATION_FAILED for an error in the server's state.
func notSetUp(err error) *candor.Error {
	return candor.New(kaizacode.SessionInitializationFailed, "", candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

// Close closes the workspace.
func (d *openWorkspace) Close() error { return errors.Join(d.folder.Close(), d.state.Close()) }

// Pinned reports whether the workspace must stay in memory because its lock is not saved.
func (d *openWorkspace) Pinned() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unsaved != nil
}

// at returns the workspace of a call and checks that its folder was not replaced.
func (k *System) at(c *workbench.Call) (*openWorkspace, error) {
	d, err := k.workspaceOf(c.Session)
	if err != nil {
		return nil, err
	}
	return d, d.folder.StillThere()
}

// planStore returns the plans of a workspace and the files that they are written to. The id of the call names the
// journals.
func (k *System) planStore(d *openWorkspace, call string, about note) (*plan.Store, *planFiles) {
	files := &planFiles{k: k, d: d, call: call, note: about}
	return plan.NewStore(files, k.approvals, plan.RootDigest(d.folder.Root())), files
}

// named is like at, for a call with a path.
func (k *System) named(c *workbench.Call, name string) (*openWorkspace, workspace.Path, error) {
	d, err := k.at(c)
	if err != nil {
		return nil, workspace.Path{}, err
	}
	p, err := d.folder.Parse(name)
	return d, p, err
}
