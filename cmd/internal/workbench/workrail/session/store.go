// Package session stores workflow sessions as append-only events.
//
// # On disk
//
// A session is a directory below the directory of the store:
//
//	<id>/manifest.jsonl            one line for each segment, in order
//	<id>/events/<first>-<last>.jsonl  a segment: events, one per line
//	<id>/lock                      held while the session is changed
//	new-<id>/                      a session that is being created, or was when a process crashed
//
// A call adds one segment. The segment is written under a temporary name, synced and renamed, and its directory is
// synced; then a line with its digest is appended to the manifest and synced. That line makes the segment part of the
// session: a crash before it leaves a segment without a line, which is ignored and replaced by the next writer. Each
// line holds the hash of the line before it.
//
// Nothing is repaired in place. [Store.Health] reports the damage of a session, [Store.Salvage] reads the events that
// are left.
package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
)

// Errors of a store, besides [*UnhealthyError] and I/O errors.
var (
	ErrNotFound = errors.New("no session has this id")
	ErrLocked   = errors.New("another process is changing the session")
	ErrTooLarge = errors.New("too large")
	ErrTooMany  = errors.New("too many sessions")

	// ErrNotRegular is the error of [ReadRegular] for a link, a pipe or a folder.
	ErrNotRegular = errors.New("not a regular file")
)

// lockWait is the maximum wait for another process that changes a session.
const lockWait = 250 * time.Millisecond

// Store is a directory of sessions. S is the state of a session, folded from its events. A Store is safe for concurrent
// use, and several processes may use one directory.
type Store[S any] struct {
	MaxSessions int // change it before the first use

	root  *os.Root
	fold  func(*S, Event) error
	turns [64]chan struct{} // callers in this process wait for each other: those of a session use the same channel
}

// NewStore returns a store in a directory. The caller closes root. fold applies an event to a state; it returns an
// error if the event is not valid.
func NewStore[S any](root *os.Root, fold func(*S, Event) error) *Store[S] {
	s := &Store[S]{MaxSessions: 10_000, root: root, fold: fold}
	for i := range s.turns {
		s.turns[i] = make(chan struct{}, 1)
	}
	return s
}

// Create creates a session with its first events. The id must be new.
func (s *Store[S]) Create(id string, records ...Record) error {
	ids, err := s.IDs()
	if err != nil {
		return err
	}
	if len(ids) >= s.MaxSessions {
		return ErrTooMany
	}
	temporary := temporaryPrefix + id
	if err := s.root.MkdirAll(temporary+"/"+eventsName, 0o700); err != nil {
		return err
	}
	if err := s.fill(temporary, id, records); err != nil {
		return errors.Join(err, s.root.RemoveAll(temporary))
	}
	// A session gets its final name when it is complete.
	if err := s.root.Rename(temporary, id); err != nil {
		return errors.Join(err, s.root.RemoveAll(temporary))
	}
	return durable.SyncDir(s.root, ".")
}

const temporaryPrefix = "new-"

func (s *Store[S]) fill(temporary, id string, records []Record) error {
	root, err := s.root.OpenRoot(temporary)
	if err != nil {
		return err
	}
	f := &folder{id: id, root: root}
	m := newManifest(id)
	_, err = f.add(&m, records, time.Now())
	if err == nil {
		err = durable.SyncDir(root, ".")
	}
	return errors.Join(err, root.Close())
}

// IDs returns the ids of all sessions, sorted.
func (s *Store[S]) IDs() ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && isID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// Recent returns the ids of all sessions, most recently changed first. It does not read the sessions.
func (s *Store[S]) Recent() ([]string, error) {
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	changed := make(map[string]time.Time, len(ids))
	for _, id := range ids {
		if info, err := s.root.Lstat(id + "/" + manifestName); err == nil { // a session without a manifest comes last
			changed[id] = info.ModTime()
		}
	}
	slices.SortStableFunc(ids, func(a, b string) int { return changed[b].Compare(changed[a]) })
	return ids, nil
}

// isID reports whether a name is 16 hexadecimal digits.
func isID(name string) bool {
	return len(name) == 16 && strings.Trim(name, "0123456789abcdef") == ""
}

// View calls read with the state of a session and its events. Other callers may use the session at the same time.
func (s *Store[S]) View(ctx context.Context, id string, read func(*S, []Event) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := s.openFolder(id)
	if err != nil {
		return err
	}
	defer f.root.Close() //nolint:errcheck // it was only read
	c, state, err := s.load(f)
	if err != nil {
		return err
	}
	return read(state, c.events)
}

// Update locks a session, in all processes, and calls decide with its state. The records that decide returns are made
// durable and folded; then done is called, unless it is nil. If decide returns an error or no records, nothing is
// added.
func (s *Store[S]) Update(ctx context.Context, id string, decide func(*S) ([]Record, error), done func(*S)) error {
	f, err := s.openFolder(id)
	if err != nil {
		return err
	}
	defer f.root.Close() //nolint:errcheck // what was written is durable
	turn := s.turns[(int(id[0])*16+int(id[1]))%len(s.turns)]
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// The system releases the lock when the process ends, and not before.
	lock, err := filelock.Wait(ctx, f.root, lockName, lockWait)
	switch {
	case errors.Is(err, filelock.ErrLocked):
		return ErrLocked
	case err != nil && s.removed(id):
		return ErrNotFound
	case err != nil:
		return err
	}
	return errors.Join(s.change(f, decide, done), lock.Close())
}

func (s *Store[S]) change(f *folder, decide func(*S) ([]Record, error), done func(*S)) error {
	c, state, err := s.load(f)
	if err != nil {
		return err
	}
	records, err := decide(state)
	if err != nil {
		return err
	}
	if len(records) > 0 {
		events, err := f.add(&c.manifest, records, time.Now())
		if err != nil {
			return err
		}
		for _, event := range events {
			if err := s.fold(state, event); err != nil {
				return fmt.Errorf("event %d: %w", event.Index, err)
			}
		}
	}
	if done != nil {
		done(state)
	}
	return nil
}

// load reads a whole session, so that damage is found before anything relies on it. The error is an [*UnhealthyError]
// if the session is damaged.
func (s *Store[S]) load(f *folder) (contents, *S, error) {
	c, state, err := s.examine(f)
	if err == nil && c.health.Kind != Healthy {
		err = &UnhealthyError{c.health}
	}
	return c, state, err
}

// examine reads a session and folds its events. An event with invalid content is damage.
func (s *Store[S]) examine(f *folder) (contents, *S, error) {
	state := new(S)
	c, err := f.read()
	for i, event := range c.events {
		if wrong := s.fold(state, event); wrong != nil {
			c.events, c.health = c.events[:i], healthOf(invalid("event %d: %s", event.Index, wrong), i)
			break
		}
	}
	if (err != nil || c.health.Kind != Healthy) && s.removed(f.id) { // a session that is removed while it is read looks damaged
		err = ErrNotFound
	}
	return c, state, err
}

// Health reads a whole session and reports its health.
func (s *Store[S]) Health(id string) (Health, error) {
	f, err := s.openFolder(id)
	if err != nil {
		return Health{}, err
	}
	c, _, err := s.examine(f)
	return c.health, errors.Join(err, f.root.Close())
}

func (s *Store[S]) removed(id string) bool {
	_, err := s.root.Lstat(id)
	return errors.Is(err, fs.ErrNotExist)
}

func (s *Store[S]) openFolder(id string) (*folder, error) {
	if !isID(id) {
		return nil, ErrNotFound
	}
	root, err := s.root.OpenRoot(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return &folder{id: id, root: root}, nil
}
