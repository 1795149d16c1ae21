package kaiza

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/durable"
)

const checkLocks = "Check the permissions of the folder locks of the workspace in the state folder."

// Locked returns the locks of the workspace, the oldest first. The error is FILE_READ_FAILED if the folder of the locks
// cannot be read.
func (r *Review) Locked() ([]Lock, error) {
	all, err := allLocks(r.d.state)
	if err != nil {
		return nil, candor.New(kaizacode.FileReadFailed, "The locks of the workspace could not be read.", candor.WithCause(err), candor.WithSuggestion(checkLocks))
	}
	return all, nil
}

// FindLocked returns the lock of the session with an id or a unique prefix of it. The error is INVALID_INPUT_VALUE if
// there is not exactly one.
func FindLocked(all []Lock, id string) (Lock, error) {
	found := byPrefix(all, id, 1, func(l Lock) string { return l.Session })
	switch len(found) {
	case 0:
		return Lock{}, candor.New(kaizacode.InvalidInputValue, fmt.Sprintf("The workspace has no locked session %q.", id),
			candor.WithSuggestion("List the locked sessions with candor workbench unlock; name another workspace with --root, and the server's folder with --state."))
	case 1:
		return found[0], nil
	}
	return Lock{}, candor.New(kaizacode.InvalidInputValue, "Several locked sessions have an id with this prefix.",
		candor.WithSuggestion("Give more of the id."))
}

// byPrefix returns the element with an id, or else those with ids that begin with it, if it has enough characters.
func byPrefix[T any](all []T, id string, least int, idOf func(T) string) (found []T) {
	for _, v := range all {
		if idOf(v) == id {
			return []T{v}
		}
		if len(id) >= least && strings.HasPrefix(idOf(v), id) {
			found = append(found, v)
		}
	}
	return found
}

// maxReason limits --reason and --by, in bytes.
const maxReason = 1 << 10

// Unlock removes a lock that [Review.Locked] returned, and records the person and the reason. It holds the lock of the
// workspace; a running server notices the change at the next call. If it returns an error, the session is locked as
// before: INVALID_INPUT_VALUE if the session is no longer locked or is locked for another reason, AUDIT_LOCK_FAILED if a
// call is changing the workspace.
func (r *Review) Unlock(ctx context.Context, shown Lock, by, reason string) error {
	for flag, text := range map[string]string{"--by": by, "--reason": reason} {
		if len(text) > maxReason || strings.ContainsFunc(text, unicode.IsControl) {
			return candor.New(kaizacode.InvalidInputValue, flag+" is longer than 1024 bytes, or holds a control character.",
				candor.WithSuggestion("Give a shorter text without control characters."))
		}
	}
	name, aside := lockFile(shown.Session), lockFile(shown.Session)+".lifted"
	undo := func() error { return nil }
	e := r.entry("unlock", "", map[string]any{"by": by, "reason": reason, "locked_by": shown.Code, "ref": shown.Ref, "tool": shown.Tool,
		"locked_role": shown.Role, "locked_at": shown.At})
	e.SessionID = shown.Session
	err := r.decide(ctx, e, func(*plan.Store) error {
		if loadLock(r.d.state, shown.Session) != shown {
			return candor.New(kaizacode.InvalidInputValue, "The session is no longer locked, or is locked for another reason than the one shown.",
				candor.WithSuggestion("List the locked sessions again with candor workbench unlock."))
		}
		err := r.d.state.Rename(name, aside)
		if err == nil {
			undo = func() error {
				return errors.Join(r.d.state.Rename(aside, name), durable.SyncDir(r.d.state, locksFolder))
			}
			err = durable.SyncDir(r.d.state, locksFolder)
		}
		if err != nil {
			return candor.New(kaizacode.FileWriteFailed, "The lock could not be removed.", candor.WithCause(err), candor.WithSuggestion(checkLocks))
		}
		return nil
	}, func() error { return undo() })
	if err == nil {
		_ = r.d.state.RemoveAll(aside) // it does not lock
	}
	return err
}
