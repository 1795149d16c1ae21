package kaiza

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/durable"
)

// LockedSession is a locked session as shown to the operator.
type LockedSession struct {
	Lock
	// Problem is the reason why the lock file cannot be read; only the session and possibly the code are then known.
	Problem string `json:"problem,omitempty"`
}

// Locked returns the locked sessions of the workspace, oldest lock first. The error is FILE_READ_FAILED if the folder of
// the locks cannot be read.
func (r *Review) Locked() ([]LockedSession, error) {
	sessions, err := lockedSessions(r.d.state)
	if err != nil {
		return nil, candor.New(kaizacode.FileReadFailed, "The locks of the workspace could not be read.", candor.WithCause(err),
			candor.WithSuggestion("Check the permissions of the folder locks of the workspace in the state folder."))
	}
	var all []LockedSession
	for _, session := range sessions {
		if l := r.lockedSession(session); l != nil {
			all = append(all, *l)
		}
	}
	slices.SortStableFunc(all, func(a, b LockedSession) int { return a.At.Compare(b.At) })
	return all, nil
}

// lockedSession returns the lock of a session, or nil.
func (r *Review) lockedSession(session string) *LockedSession {
	l, err := loadLock(r.d.state, session)
	switch {
	case err != nil:
		return &LockedSession{Lock: *unreadableLock(session), Problem: "the lock file cannot be read: " + cause(err)}
	case l == nil:
		return nil
	case l.Ref == "":
		return &LockedSession{Lock: *l, Problem: "the lock file is damaged"}
	}
	return &LockedSession{Lock: *l}
}

// cause returns the text of a file system error without the path.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// FindLocked returns the locked session with an id or a unique prefix of it. The error is INVALID_INPUT_VALUE if there
// is not exactly one.
func FindLocked(all []LockedSession, id string) (LockedSession, error) {
	var found []LockedSession
	for _, l := range all {
		if l.Session == id {
			return l, nil
		}
		if id != "" && strings.HasPrefix(l.Session, id) {
			found = append(found, l)
		}
	}
	switch len(found) {
	case 0:
		return LockedSession{}, candor.New(kaizacode.InvalidInputValue, fmt.Sprintf("The workspace has no locked session %q.", id),
			candor.WithSuggestion("List the locked sessions with candor workbench unlock --list; name another workspace with --root, and the server's folder with --state."))
	case 1:
		return found[0], nil
	}
	return LockedSession{}, candor.New(kaizacode.InvalidInputValue, "Several locked sessions have an id with this prefix.",
		candor.WithSuggestion("Give more of the id."))
}

// maxReason limits --reason and --by, in bytes.
const maxReason = 1 << 10

// Unlock removes the lock of a session that [Review.Locked] returned, and records the person and the reason. It holds
// the lock of the workspace; a running server notices the change at the next call. If it returns an error, the session
// is locked as before: INVALID_INPUT_VALUE if the session is no longer locked or is locked for another reason,
// AUDIT_LOCK_FAILED if a call is changing the workspace. Other problems are available from [Review.Warnings].
func (r *Review) Unlock(ctx context.Context, shown LockedSession, by, reason string) error {
	for flag, text := range map[string]string{"--by": by, "--reason": reason} {
		if len(text) > maxReason || strings.ContainsFunc(text, unicode.IsControl) {
			return candor.New(kaizacode.InvalidInputValue, flag+" is longer than 1024 bytes, or holds a control character.",
				candor.WithSuggestion("Give a shorter text without control characters."))
		}
	}
	name, aside := lockFile(shown.Session), lockFile(shown.Session)+".lifted"
	moved := false
	err := r.decide(ctx, decision{
		action: "unlock", by: by, session: shown.Session,
		about: map[string]any{"reason": reason, "locked_by": shown.Code, "ref": shown.Ref, "tool": shown.Tool, "locked_role": shown.Role, "locked_at": shown.At},
		do: func(*plan.Store) error {
			if now := r.lockedSession(shown.Session); now == nil || *now != shown {
				return candor.New(kaizacode.InvalidInputValue, "The session is no longer locked, or is locked for another reason than the one shown.",
					candor.WithSuggestion("List the locked sessions again with candor workbench unlock --list."))
			}
			if err := r.d.state.Rename(name, aside); err != nil {
				return notLifted(err)
			}
			moved = true
			if err := durable.SyncDir(r.d.state, locksFolder); err != nil {
				return notLifted(err)
			}
			return nil
		},
		undo: func() error {
			if !moved {
				return nil
			}
			return errors.Join(r.d.state.Rename(aside, name), durable.SyncDir(r.d.state, locksFolder))
		},
		inForce: func() bool {
			_, err := r.d.state.Lstat(name)
			return moved && errors.Is(err, fs.ErrNotExist)
		},
	})
	if err != nil {
		return err
	}
	if err := r.d.state.RemoveAll(aside); err != nil {
		r.warn("the file of the removed lock was left in the state folder", err)
	}
	return nil
}

func notLifted(err error) error {
	return candor.New(kaizacode.FileWriteFailed, "The lock could not be removed.", candor.WithCause(err),
		candor.WithSuggestion("Check the permissions of the folder locks of the workspace in the state folder."))
}
