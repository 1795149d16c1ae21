package kaiza

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Lock is the reason why a session cannot change anything until it has written a report.
type Lock struct {
	Code      string    `json:"code"`
	Ref       string    `json:"ref"`
	Tool      string    `json:"tool"`
	Invariant string    `json:"invariant,omitempty"`
	Session   string    `json:"session"`
	Role      string    `json:"role"`
	At        time.Time `json:"at"`
	// Problem is the reason why the lock file cannot be read; only the session is then known.
	Problem string `json:"problem,omitempty"`
}

// locking lists the codes that lock a session: those of broken rules. Errors about files, paths and input never lock.
var locking = []candor.Code{
	kaizacode.InvariantViolation, kaizacode.PolicyViolation, kaizacode.RustPolicyViolation,
	kaizacode.PlanEnforcementFailed, kaizacode.PlanScopeViolation,
}

const locksFolder = "locks"

func lockFile(session string) string { return path.Join(locksFolder, session+".json") }

// failed locks the session of a call that broke a rule. The lock is on disk before the reply is sent.
func (k *System) failed(_ context.Context, c *workbench.Call, e *candor.Error) {
	code := ownCode(e) // a code of another system with the same symbol also locks
	if c.Session == nil || !slices.Contains(locking, code) {
		return
	}
	d, err := k.workspaceOf(c.Session)
	if err != nil {
		return // the session cannot change anything without its workspace
	}
	if d.locked() != nil {
		return // the first failure counts
	}
	l := &Lock{Code: code.Symbol(), Ref: e.Ref(), Tool: c.Name, Invariant: e.CallInfo().InvariantID,
		Session: c.Session.ID, Role: c.Session.Role, At: k.now().UTC()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := saveLock(d.state, l); err != nil {
		d.unsaved = l
		c.Bench().Logger().Error("writing a lock; it holds until this server ends", slog.String("ref", l.Ref), slog.Any("error", err))
	}
}

func saveLock(state *os.Root, l *Lock) error {
	return workbench.SaveJSON(state, lockFile(l.Session), l)
}

// loadLock returns the lock of a session. One that cannot be read has a problem, and locks like any other.
func loadLock(state *os.Root, session string) Lock {
	l := Lock{Code: kaizacode.InvariantViolation.Symbol(), Invariant: "INV_LOCK_READABLE", Session: session}
	data, err := state.ReadFile(lockFile(session))
	if err != nil {
		l.Problem = "the lock file cannot be read: " + cause(err)
		return l
	}
	var found Lock
	if json.Unmarshal(data, &found) != nil || found.Code == "" || found.Ref == "" {
		l.Problem = "the lock file is damaged"
		return l
	}
	found.Session = session
	return found
}

// cause returns the text of a file system error without the path.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// allLocks returns the locks of a workspace, the oldest first.
func allLocks(state *os.Root) (all []Lock, err error) {
	names, err := fs.ReadDir(state.FS(), locksFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, name := range names {
		if session, ok := strings.CutSuffix(name.Name(), ".json"); ok {
			all = append(all, loadLock(state, session))
		}
	}
	slices.SortStableFunc(all, func(a, b Lock) int { return a.At.Compare(b.At) })
	return all, err
}

// locks returns the locks that hold for the session: its own, and those of its role from before it began, so that ending
// a session, beginning another or restarting the server does not avoid the report.
func (d *openWorkspace) locks() ([]Lock, error) {
	all, err := allLocks(d.state)
	return slices.DeleteFunc(all, func(l Lock) bool {
		earlier := l.At.Before(d.session.Begun) && (l.Role == "" || contractRole(l.Role) == contractRole(d.session.Role))
		return l.Session != d.session.ID && !earlier
	}), err
}

// locked returns the lock of the session, or nil. It reads the lock files at every call: another server on the same state may
// have locked the session, and the operator or the report of another session may have removed a lock.
func (d *openWorkspace) locked() *Lock {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unsaved != nil {
		if saveLock(d.state, d.unsaved) != nil {
			return d.unsaved
		}
		d.unsaved = nil
	}
	found, err := d.locks()
	switch {
	case err != nil: // the next call tries again
		return &Lock{Code: kaizacode.InvariantViolation.Symbol(), Invariant: "INV_LOCK_READABLE", Session: d.session.ID}
	case len(found) == 0:
		return nil
	}
	return &found[0]
}

// unlock removes the locks that hold for the session.
func (d *openWorkspace) unlock() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, failed := d.locks()
	for _, l := range found {
		if err := d.state.Remove(lockFile(l.Session)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	if failed == nil {
		d.unsaved = nil
	}
	return failed
}

var sessionID = lazyregexp.New(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// hideSessionIDs shortens the ids of all sessions except own: over HTTP without protocol sessions a client that has an id can use it.
func hideSessionIDs(own string, text []byte) []byte {
	return sessionID.Get().ReplaceAllFunc(text, func(id []byte) []byte {
		if string(id) == own {
			return id
		}
		return append(bytes.Clone(id[:8]), "-…"...)
	})
}

// shownTo returns the lock with a session id of another session shortened.
func (l *Lock) shownTo(own string) *Lock {
	if l == nil {
		return nil
	}
	shown := *l
	shown.Session = string(hideSessionIDs(own, []byte(l.Session)))
	return &shown
}
