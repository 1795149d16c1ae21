package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/durable"
)

// LeftoverKind is the origin of a [Leftover].
type LeftoverKind string

// The kinds of leftovers.
const (
	LeftoverFolder  LeftoverKind = "unfinished_folder" // a session that was being created or removed
	LeftoverSegment LeftoverKind = "orphan_segment"    // a segment that was moved aside because it was never part of its session
	LeftoverFile    LeftoverKind = "temporary_file"
)

// Leftover is a file or directory left by a crash. No session uses it.
type Leftover struct {
	Kind    LeftoverKind `json:"kind"`
	Session string       `json:"sessionId,omitempty"` // "" if it is beside the sessions
	Name    string       `json:"name"`                // relative to the directory of the store
}

// Leftovers returns the leftovers that were last changed before a time. A time some minutes ago excludes files that are
// being written now.
func (s *Store[S]) Leftovers(before time.Time) ([]Leftover, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var found []Leftover
	for _, e := range entries {
		switch {
		case !e.IsDir():
		case strings.HasPrefix(e.Name(), temporaryPrefix) && isID(strings.TrimPrefix(e.Name(), temporaryPrefix)):
			if olderThan(e, before) {
				found = append(found, Leftover{Kind: LeftoverFolder, Name: e.Name()})
			}
		case isID(e.Name()):
			found = append(found, s.leftoversIn(e.Name(), before)...)
		}
	}
	return found, nil
}

// LeftoversOf returns the leftovers in the directory of one session, including those that may be in use.
func (s *Store[S]) LeftoversOf(id string) []Leftover {
	if !isID(id) {
		return nil
	}
	return s.leftoversIn(id, s.options.Now().Add(time.Hour))
}

// olderThan reports whether an entry was last changed before a time. It is false for an entry that no longer exists.
func olderThan(e fs.DirEntry, before time.Time) bool {
	info, err := e.Info()
	return err == nil && info.ModTime().Before(before)
}

func (s *Store[S]) leftoversIn(id string, before time.Time) (found []Leftover) {
	for _, dir := range []string{"", eventsName, orphansName} {
		entries, err := fs.ReadDir(s.root.FS(), path.Join(id, dir))
		if err != nil { // damage of the session, which its health describes
			continue
		}
		for _, e := range entries {
			l := Leftover{Session: id, Name: path.Join(id, dir, e.Name())}
			if l.Kind = kindOf(dir, e); l.Kind != "" && olderThan(e, before) {
				found = append(found, l)
			}
		}
	}
	return found
}

// kindOf classifies a file in a session's directory, "" if it is not a leftover.
func kindOf(dir string, e fs.DirEntry) LeftoverKind {
	switch {
	case !e.Type().IsRegular():
		return ""
	case dir == orphansName:
		return LeftoverSegment
	case strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp"):
		return LeftoverFile
	default:
		return ""
	}
}

// RemoveLeftover removes one of the [Store.Leftovers]. It waits for a process that is changing the session.
func (s *Store[S]) RemoveLeftover(ctx context.Context, l Leftover) error {
	if l.Session == "" {
		if !isID(strings.TrimPrefix(l.Name, temporaryPrefix)) || !strings.HasPrefix(l.Name, temporaryPrefix) {
			return fmt.Errorf("%s is not a leftover of this store", l.Name)
		}
		return s.removeSynced(l.Name)
	}
	held, err := s.hold(ctx, l.Session)
	if err != nil {
		return err
	}
	if slices.Contains(s.LeftoversOf(l.Session), l) { // otherwise it no longer exists
		err = s.removeSynced(l.Name)
	}
	return errors.Join(err, held.release())
}

func (s *Store[S]) removeSynced(name string) error {
	if err := s.root.RemoveAll(name); err != nil {
		return err
	}
	return durable.SyncDir(s.root, path.Dir(name))
}

// RemoveIf removes a session that no process is changing, if check accepts its state.
func (s *Store[S]) RemoveIf(ctx context.Context, id string, check func(*S) error) error {
	e, err := s.lock(ctx, id)
	if err != nil {
		return err
	}
	defer e.unlock()
	held, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	if err = s.refresh(e); err == nil {
		err = check(e.state)
	}
	if err != nil {
		return errors.Join(err, held.release())
	}
	return s.removeHeld(id, held)
}

// removeHeld removes a session and releases its lock. The session is renamed first, so that a crash leaves a directory
// that IDs does not list.
func (s *Store[S]) removeHeld(id string, held *held) error {
	s.drop(id)
	gone := temporaryPrefix + id
	err := s.root.Rename(id, gone)
	if err == nil {
		err = durable.SyncDir(s.root, ".")
	}
	if err = errors.Join(err, held.release()); err != nil {
		return fmt.Errorf("removing session %s: %w", id, err)
	}
	return s.root.RemoveAll(gone)
}

// removed reports whether a session no longer exists. A session that is removed while it is read looks damaged.
func (s *Store[S]) removed(id string) bool {
	_, err := s.root.Lstat(id)
	return errors.Is(err, fs.ErrNotExist)
}
