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

// desk is what a session works with: its workspace, the plans in it, and the state that is kept about it.
type desk struct {
	folder *workspace.Folder
	state  *os.Root // of this workspace
	plans  *plan.Store

	session string // whose desk it is; "" is a person's

	mu    sync.Mutex
	lock  *Lock    // guarded by mu; nil is unlocked
	taken []string // guarded by mu: sessions whose locks the desk was opened with
	// unsaved, guarded by mu, is a lock that is nowhere but here.
	unsaved bool
}

// stateOf is the folder in the state folder that belongs to a workspace.
func stateOf(root string) string { return "workspaces/" + plan.RootDigest(root) }

// desk returns that of a session, opening it when it is first needed, which after a restart is in the middle of a session.
func (k *System) desk(s *workbench.Session) (*desk, error) {
	v, err := s.Value(func() (any, error) {
		d, err := k.openDesk(s.Root)
		if err != nil {
			return nil, err
		}
		if err = d.takeLocks(s.Role); err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.session = s.ID
		return d, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*desk), nil //nolint:errcheck,forcetypeassert // nothing else is kept with a session
}

// openDesk opens a workspace and what is known about it. Where the folder really is counts, and not where it was when it was asked for: a
// link may have been swapped since, and a session may be older than the root of this server.
func (k *System) openDesk(root string) (*desk, error) {
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
	state, err := k.stateFolder(folder.Root())
	if err != nil {
		return nil, errors.Join(notSetUp(err), folder.Close())
	}
	d := &desk{folder: folder, state: state}
	d.plans, _ = k.planStore(d, "", note{})
	return d, nil
}

func (k *System) stateFolder(root string) (*os.Root, error) {
	name := stateOf(root)
	if err := k.o.State.Root().MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	return k.o.State.Root().OpenRoot(name)
}

// notSetUp says that the state of a session could not be made. It is the server's trouble and not the workspace's.
func notSetUp(err error) *candor.Error {
	return candor.New(kaizacode.SessionInitializationFailed, "", candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

// Close gives back what the desk holds.
func (d *desk) Close() error { return errors.Join(d.folder.Close(), d.state.Close()) }

// Pinned reports a desk that must stay in memory.
func (d *desk) Pinned() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unsaved
}

// at returns the desk of a call whose workspace is still the one that was opened.
func (k *System) at(c *workbench.Call) (*desk, error) {
	d, err := k.desk(c.Session)
	if err != nil {
		return nil, err
	}
	return d, d.folder.StillThere()
}

// planStore is the store of a desk's plans for one call, which its journals are named after, and the files it writes to.
func (k *System) planStore(d *desk, call string, about note) (*plan.Store, *planFiles) {
	files := &planFiles{d: d, call: call, note: about}
	return plan.NewStore(files, k.approvals, plan.RootDigest(d.folder.Root())), files
}

// named is at for a call that names a path.
func (k *System) named(c *workbench.Call, name string) (*desk, workspace.Path, error) {
	d, err := k.at(c)
	if err != nil {
		return nil, workspace.Path{}, err
	}
	p, err := d.folder.Parse(name)
	return d, p, err
}
