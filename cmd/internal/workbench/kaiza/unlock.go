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

// LockedSession is a session that may change nothing, as the operator sees it.
type LockedSession struct {
	Lock
	// Problem says why the file of the lock cannot be read; then the session and maybe the code are all that is known.
	Problem string `json:"problem,omitempty"`
}

// Locked returns the locked sessions of the workspace, the oldest lock first. FILE_READ_FAILED: the folder of the locks cannot be read.
func (r *Review) Locked() ([]LockedSession, error) {
	names, err := fs.ReadDir(r.d.state.FS(), locksFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, candor.New(kaizacode.FileReadFailed, "The locks of the workspace could not be read.", candor.WithCause(err),
			candor.WithSuggestion("Look at the folder locks of the workspace in the state folder, and at its permissions."))
	}
	var all []LockedSession
	for _, name := range names {
		session, ok := strings.CutSuffix(name.Name(), ".json")
		if !ok {
			continue
		}
		if l := r.lockedSession(session); l != nil {
			all = append(all, *l)
		}
	}
	slices.SortStableFunc(all, func(a, b LockedSession) int { return a.At.Compare(b.At) })
	return all, nil
}

// lockedSession returns the lock of a session, nil if it has none.
func (r *Review) lockedSession(session string) *LockedSession {
	l, err := loadLock(r.d.state, session)
	switch {
	case err != nil:
		return &LockedSession{Lock: *unreadableLock(session), Problem: "the file of the lock cannot be read: " + cause(err)}
	case l == nil:
		return nil
	case l.Ref == "":
		return &LockedSession{Lock: *l, Problem: "the file of the lock is damaged"}
	}
	return &LockedSession{Lock: *l}
}

// cause is the innermost text of an error from the file system.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// FindLocked returns the locked session with an id, or the only one whose id begins so. INVALID_INPUT_VALUE: there is none, or several.
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
	return LockedSession{}, candor.New(kaizacode.InvalidInputValue, "Several locked sessions have an id that begins so.",
		candor.WithSuggestion("Give more of the id."))
}

// maxReason bounds why a lock was lifted, and who lifted it, in bytes.
const maxReason = 1 << 10

// Unlock lifts the lock of a session that [Review.Locked] has returned, and records who did it and why. It holds the lock of the workspace
// meanwhile, so that no call is changing it; a running server sees it at the next call. With an error the session is locked as before.
// INVALID_INPUT_VALUE: the session is locked no more, or for another reason. AUDIT_LOCK_FAILED: a call is changing the workspace. What went wrong
// without keeping the lock is in [Review.Warnings].
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
					candor.WithSuggestion("Look again with candor workbench unlock --list."))
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
		stands: func() bool {
			_, err := r.d.state.Lstat(name)
			return moved && errors.Is(err, fs.ErrNotExist)
		},
	})
	if err != nil {
		return err
	}
	if err := r.d.state.RemoveAll(aside); err != nil {
		r.warn("the file of the lifted lock was left in the state folder", err)
	}
	return nil
}

func notLifted(err error) error {
	return candor.New(kaizacode.FileWriteFailed, "The lock could not be removed.", candor.WithCause(err),
		candor.WithSuggestion("Look at the folder locks of the workspace in the state folder, and at its permissions."))
}
