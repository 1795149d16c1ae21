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
	l := &Lock{Code: code.Symbol(), Ref: e.Ref(), Tool: c.Name, Invariant: e.CallInfo().InvariantID,
		Session: c.Session.ID, Role: c.Session.Role, At: k.now().UTC()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refresh(); d.lock != nil {
		return // the first failure counts
	}
	d.lock = l
	if err := saveLock(d.state, l); err != nil {
		d.unsaved = true
		c.Bench().Logger().Error("writing a lock; it holds until this server ends", slog.String("ref", l.Ref), slog.Any("error", err))
	}
}

func saveLock(state *os.Root, l *Lock) error {
	return workbench.SaveJSON(state, lockFile(l.Session), l)
}

// loadLock returns the lock of a session, or nil. A damaged lock file also locks the session.
func loadLock(state *os.Root, session string) (*Lock, error) {
	data, err := state.ReadFile(lockFile(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no lock is the normal case
	}
	if err != nil {
		return nil, notSetUp(err)
	}
	l := new(Lock)
	if json.Unmarshal(data, l) != nil || l.Code == "" {
		return unreadableLock(session), nil
	}
	l.Session = session
	return l, nil
}

func unreadableLock(session string) *Lock {
	return &Lock{Code: kaizacode.InvariantViolation.Symbol(), Invariant: "INV_LOCK_READABLE", Session: session}
}

// locked returns the lock of the session, or nil.
func (d *openWorkspace) locked() *Lock {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refresh()
}

// refresh reads the lock files again: another server on the same state may have locked the session, and the operator or
// the report of another session may have removed a lock. The caller must hold d.mu.
func (d *openWorkspace) refresh() *Lock {
	if d.unsaved && saveLock(d.state, d.lock) == nil {
		d.unsaved = false
	}
	if d.unsaved || d.session == "" {
		return d.lock
	}
	if d.lock != nil {
		if l, err := loadLock(d.state, d.lock.Session); l != nil || err != nil {
			return d.lock
		}
		d.lock = nil
	}
	own, err := loadLock(d.state, d.session)
	if err != nil {
		return unreadableLock(d.session) // the next call tries again
	}
	first, stand := own, []string(nil)
	for _, session := range d.inherited {
		l, err := loadLock(d.state, session)
		if err != nil {
			return unreadableLock(session)
		}
		if l == nil {
			continue
		}
		stand = append(stand, session)
		if first == nil || l.At.Before(first.At) {
			first = l
		}
	}
	d.lock, d.inherited = first, stand
	return d.lock
}

// lockedSessions returns the sessions that have a lock file.
func lockedSessions(state *os.Root) (sessions []string, err error) {
	names, err := fs.ReadDir(state.FS(), locksFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, name := range names {
		if session, ok := strings.CutSuffix(name.Name(), ".json"); ok {
			sessions = append(sessions, session)
		}
	}
	return sessions, err
}

// maxInherited limits how many locks one session inherits.
const maxInherited = 1000

// inheritLocks adds the locks of the workspace for a role, including that of its session, so that ending a session,
// beginning another or restarting the server does not avoid the report. Sessions that began before the lock are not
// affected.
func (d *openWorkspace) inheritLocks(role string) error {
	locked, err := lockedSessions(d.state)
	if err != nil {
		return notSetUp(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, session := range locked {
		if len(d.inherited) == maxInherited {
			break
		}
		l, err := loadLock(d.state, session)
		if err != nil {
			return err
		}
		if l == nil || l.Role != "" && contractRole(l.Role) != contractRole(role) {
			continue
		}
		d.inherited = append(d.inherited, session)
		if d.lock == nil || l.At.Before(d.lock.At) {
			d.lock = l
		}
	}
	return nil
}

// unlock removes the lock and the inherited ones.
func (d *openWorkspace) unlock(session string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var failed error
	for _, id := range append(slices.Clone(d.inherited), session) {
		if err := d.state.Remove(lockFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	if failed == nil {
		d.lock, d.inherited, d.unsaved = nil, nil, false
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
