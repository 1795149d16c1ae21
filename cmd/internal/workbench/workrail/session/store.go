package session

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/internal/durable"
)

// Errors of a store, besides [*UnhealthyError], [*LockedError] and I/O errors.
var (
	ErrNotFound = errors.New("no session has this id")
	ErrTooLarge = errors.New("too large")
	ErrTooMany  = errors.New("too many sessions")
)

// Options configures a store.
type Options struct {
	LockWait    time.Duration // maximum wait for another process that holds a session; 0 is 250 ms
	MaxSessions int           // 0 is 10,000
	MaxOpen     int           // sessions kept in memory; 0 is 64
	Now         func() time.Time
}

// Store is a directory of sessions. S is the state of a session, folded from its events. A Store is safe for concurrent
// use, and several processes may use one directory.
type Store[S any] struct {
	root    *os.Root
	options Options
	fold    func(*S, Event) error

	mu     sync.Mutex // guards the two fields below
	open   map[string]*list.Element
	recent *list.List // of *entry, most recently used first
}

// NewStore returns a store in a directory. The caller closes root. fold applies an event to a state; it returns an
// error if the event is not valid.
func NewStore[S any](root *os.Root, o Options, fold func(*S, Event) error) *Store[S] {
	if o.LockWait <= 0 {
		o.LockWait = 250 * time.Millisecond
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = 10_000
	}
	if o.MaxOpen <= 0 {
		o.MaxOpen = 64
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store[S]{root: root, options: o, fold: fold, open: map[string]*list.Element{}, recent: list.New()}
}

// Create creates a session with its first events. The id must be new.
func (s *Store[S]) Create(id string, records ...Record) error {
	ids, err := s.IDs()
	if err != nil {
		return err
	}
	if len(ids) >= s.options.MaxSessions {
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
	_, err = f.add(&m, records, s.options.Now())
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
	if len(name) != 16 {
		return false
	}
	for _, c := range name {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// View calls read with the state of a session. Other callers may use the session at the same time.
func (s *Store[S]) View(ctx context.Context, id string, read func(*S) error) error {
	e, err := s.lock(ctx, id)
	if err != nil {
		return err
	}
	defer e.unlock()
	if err := s.refresh(e); err != nil {
		return err
	}
	return read(e.state)
}

// Update locks a session, in all processes, and calls decide with its state. The records that decide returns are made
// durable and folded; then done is called, unless it is nil. If decide returns an error or no records, nothing is
// added.
func (s *Store[S]) Update(ctx context.Context, id string, decide func(*S) ([]Record, error), done func(*S)) error {
	e, err := s.lock(ctx, id)
	if err != nil {
		return err
	}
	defer e.unlock()
	held, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	err = s.change(e, decide)
	if err == nil && done != nil {
		done(e.state)
	}
	return errors.Join(err, held.release())
}

func (s *Store[S]) change(e *entry[S], decide func(*S) ([]Record, error)) error {
	if err := s.refresh(e); err != nil {
		return err
	}
	records, err := decide(e.state)
	if err != nil || len(records) == 0 {
		return err
	}
	events, err := e.folder.add(&e.manifest, records, s.options.Now())
	if err != nil {
		e.forget()
		return err
	}
	return s.take(e, events)
}

// take folds events that are durable.
func (s *Store[S]) take(e *entry[S], events []Event) error {
	for _, event := range events {
		if err := s.fold(e.state, event); err != nil {
			e.forget()
			return fmt.Errorf("event %d: %w", event.Index, err)
		}
	}
	return e.stamp()
}

// Health reads a whole session and reports its health.
func (s *Store[S]) Health(id string) (Health, error) {
	f, err := s.openFolder(id)
	if err != nil {
		return Health{}, err
	}
	_, h, err := s.scan(f, new(S))
	if h.Kind != Healthy && s.removed(id) {
		err = ErrNotFound
	}
	return h, errors.Join(err, f.root.Close())
}

// Remove removes a session that no process is changing.
func (s *Store[S]) Remove(ctx context.Context, id string) error {
	held, err := s.hold(ctx, id)
	if err != nil {
		return err
	}
	return s.removeHeld(id, held)
}

// RemoveAbandoned removes directories that a crash of Create or Remove left more than age ago.
func (s *Store[S]) RemoveAbandoned(age time.Duration) error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, abandoned := strings.CutPrefix(e.Name(), temporaryPrefix)
		if info, infoErr := e.Info(); abandoned && isID(id) && infoErr == nil && s.options.Now().Sub(info.ModTime()) > age {
			err = errors.Join(err, s.root.RemoveAll(e.Name()))
		}
	}
	return err
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

// Event returns one event of a session. It reads the event from disk and checks it against the manifest.
func (s *Store[S]) Event(ctx context.Context, id string, index uint64) (Event, error) {
	e, err := s.lock(ctx, id)
	if err != nil {
		return Event{}, err
	}
	defer e.unlock()
	if err := s.refresh(e); err != nil {
		return Event{}, err
	}
	at := sort.Search(len(e.manifest.lines), func(i int) bool { return e.manifest.lines[i].Last >= index })
	if at == len(e.manifest.lines) || index == 0 {
		return Event{}, fmt.Errorf("event %d: %w", index, ErrNotFound)
	}
	line := &e.manifest.lines[at]
	events, reason, err := e.folder.readSegment(line)
	if err != nil {
		return Event{}, err
	}
	if reason != nil {
		return Event{}, &UnhealthyError{healthOf(reason, line.First-1)}
	}
	return events[index-line.First], nil
}
