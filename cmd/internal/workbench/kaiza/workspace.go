package kaiza

import (
	"errors"
	"os"
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

	session string // "" for the operator

	mu        sync.Mutex
	lock      *Lock    // guarded by mu; nil if unlocked
	inherited []string // guarded by mu; sessions whose locks were inherited
	// unsaved, guarded by mu, is true if lock could not be written to disk.
	unsaved bool
}

// stateOf returns the folder of a workspace in the state folder.
func stateOf(root string) string { return "workspaces/" + plan.RootDigest(root) }

// workspaceOf returns the workspace of a session. It is opened on first use, also after a restart.
func (k *System) workspaceOf(s *workbench.Session) (*openWorkspace, error) {
	v, err := s.Value(func() (any, error) {
		d, err := k.open(s.Root)
		if err != nil {
			return nil, err
		}
		if err = d.inheritLocks(s.Role); err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.session = s.ID
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
	if err := k.guarded(folder.Root()); err != nil {
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
	return d.unsaved
}

// at returns the workspace of a call and checks that its folder was not replaced.
func (k *System) at(c *workbench.Call) (*openWorkspace, error) {
	d, err := k.workspaceOf(c.Session)
	if err != nil {
		return nil, err
	}
	return d, d.folder.StillThere()
}

// planStore returns the plans of a workspace for one call, whose id names the journals, and the files that the plans are
// written to.
func (k *System) planStore(d *openWorkspace, call string, about note) (*plan.Store, *planFiles) {
	files := &planFiles{d: d, call: call, note: about}
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
