package kaiza

import (
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
	"github.com/candor-mcp/candor/internal/durable"
)

// Lock is why a session may change nothing until it has reported.
type Lock struct {
	Code      string    `json:"code"`
	Ref       string    `json:"ref"`
	Tool      string    `json:"tool"`
	Invariant string    `json:"invariant,omitempty"`
	Session   string    `json:"session"`
	Role      string    `json:"role"`
	At        time.Time `json:"at"`
}

// locking are the codes that lock: a rule was broken. Errors of files, paths and input never do.
var locking = []candor.Code{
	kaizacode.InvariantViolation, kaizacode.PolicyViolation, kaizacode.RustPolicyViolation,
	kaizacode.PlanEnforcementFailed, kaizacode.PlanScopeViolation,
}

const locksFolder = "locks"

func lockFile(session string) string { return path.Join(locksFolder, session+".json") }

// failed locks the session of a call that has broken a rule. The lock is on the disk before the answer is sent.
func (k *System) failed(_ context.Context, c *workbench.Call, e *candor.Error) {
	code := ownCode(e) // what another system calls the same is told as ours, and locks as ours
	if c.Session == nil || !slices.Contains(locking, code) {
		return
	}
	d, err := k.desk(c.Session)
	if err != nil {
		return // without a desk it can do nothing anyway
	}
	l := &Lock{Code: code.Symbol(), Ref: e.Ref(), Tool: c.Name, Invariant: e.CallInfo().InvariantID,
		Session: c.Session.ID, Role: c.Session.Role, At: k.now().UTC()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refresh(); d.lock != nil {
		return // the first failure is the one to report
	}
	d.lock = l
	if err := saveLock(d.state, l); err != nil {
		d.unsaved = true
		c.Bench().Logger().Error("a lock could not be written; it holds until this server ends", slog.String("ref", l.Ref), slog.Any("error", err))
	}
}

func saveLock(state *os.Root, l *Lock) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	if err := state.MkdirAll(locksFolder, 0o700); err != nil {
		return err
	}
	return durable.WriteFile(state, lockFile(l.Session), append(data, '\n'), 0o600)
}

// loadLock returns the lock of a session, nil if there is none. One that cannot be read locks all the same.
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

// locked returns why the desk is locked, nil if it is not.
func (d *desk) locked() *Lock {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refresh()
}

// refresh reads again whether the desk is locked, because the file is the lock: the session may have broken a rule in another server on the
// same state, and the operator or the report of another session may have lifted the lock. The caller holds d.mu.
func (d *desk) refresh() *Lock {
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
		return unreadableLock(d.session) // the next call looks again
	}
	first, stand := own, []string(nil)
	for _, session := range d.taken {
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
	d.lock, d.taken = first, stand
	return d.lock
}

// maxTaken bounds how many locks one session takes over.
const maxTaken = 1000

// takeLocks takes over the locks that stand in this workspace for a role, its own session's too: to end a session, to begin another
// beside it or to wait for a restart is no way around the report. A session that was at work before the lock goes on.
func (d *desk) takeLocks(role string) error {
	names, err := fs.ReadDir(d.state.FS(), locksFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return notSetUp(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		session, ok := strings.CutSuffix(name.Name(), ".json")
		if !ok || len(d.taken) == maxTaken {
			continue
		}
		l, err := loadLock(d.state, session)
		if err != nil {
			return err
		}
		if l == nil || l.Role != "" && kindOf(l.Role) != kindOf(role) {
			continue
		}
		d.taken = append(d.taken, session)
		if d.lock == nil || l.At.Before(d.lock.At) {
			d.lock = l
		}
	}
	return nil
}

// unlock lifts the lock, and those that were taken over.
func (d *desk) unlock(session string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var failed error
	for _, id := range append(slices.Clone(d.taken), session) {
		if err := d.state.Remove(lockFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	if failed == nil {
		d.lock, d.taken, d.unsaved = nil, nil, false
	}
	return failed
}
