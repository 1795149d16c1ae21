package session

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// entry is a cached session.
type entry[S any] struct {
	id    string
	turn  chan struct{} // holds one value while the entry is free
	users atomic.Int32  // callers that hold it or wait for it; incremented only with the store's mutex held

	// The fields below belong to the holder of the turn.
	folder   *folder
	state    *S // nil if the session was not read yet
	manifest manifest
	seen     stamp   // of the manifest
	segments []stamp // of all segments, in order
	next     int     // the next of the older segments to check
}

// lock returns the entry of a session when it is the caller's turn. The caller must unlock it.
func (s *Store[S]) lock(ctx context.Context, id string) (*entry[S], error) {
	e, err := s.entry(id)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.turn:
		return e, nil
	case <-ctx.Done():
		e.users.Add(-1)
		return nil, ctx.Err()
	}
}

func (e *entry[S]) unlock() {
	e.turn <- struct{}{}
	e.users.Add(-1)
}

// forget makes the next use read the whole session.
func (e *entry[S]) forget() {
	e.state, e.segments = nil, nil
}

// entry returns the entry of a session, which the caller must lock, and evicts the least recently used ones.
func (s *Store[S]) entry(id string) (*entry[S], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.open[id]; ok {
		s.recent.MoveToFront(at)
		e := at.Value.(*entry[S]) //nolint:forcetypeassert,errcheck // the list holds nothing else
		e.users.Add(1)
		return e, nil
	}
	if !isID(id) {
		return nil, ErrNotFound
	}
	e := &entry[S]{id: id, turn: make(chan struct{}, 1)}
	e.users.Add(1)
	e.turn <- struct{}{}
	s.open[id] = s.recent.PushFront(e)
	s.shrink()
	return e, nil
}

// shrink evicts sessions that are not in use. The caller holds the mutex.
func (s *Store[S]) shrink() {
	for at := s.recent.Back(); at != s.recent.Front() && s.recent.Len() > s.options.MaxOpen; {
		before := at.Prev()
		if e := at.Value.(*entry[S]); e.users.Load() == 0 { //nolint:forcetypeassert,errcheck // as above
			delete(s.open, e.id)
			s.recent.Remove(at)
		}
		at = before
	}
}

func (s *Store[S]) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.open[id]; ok {
		delete(s.open, id)
		s.recent.Remove(at)
	}
}

// Older segments are checked in turn, so that the cost of a call does not grow with the session. Damage is found within
// a few calls, and at once in a session with fewer segments.
const (
	newestChecked = 16
	olderChecked  = 48
)

// refresh updates an entry from disk.
func (s *Store[S]) refresh(e *entry[S]) error {
	var err error
	if e.state != nil && s.unchanged(e) {
		err = s.catchUp(e)
	} else {
		err = s.load(e)
	}
	if err != nil && s.removed(e.id) {
		return ErrNotFound
	}
	return err
}

// unchanged reports whether the files that were read are unchanged. The manifest may have grown.
func (s *Store[S]) unchanged(e *entry[S]) bool {
	now, err := stampIn(s.root, e.id+"/"+manifestName) // by its path: the directory may have been moved
	if err != nil || !sameFile(&e.seen, &now) || now.size < e.manifest.size {
		return false
	}
	if now.size == e.seen.size && !now.time.Equal(e.seen.time) {
		return false
	}
	newest := max(0, len(e.segments)-newestChecked)
	for i := newest; i < len(e.segments); i++ {
		if !e.sameSegment(i) {
			return false
		}
	}
	for range min(olderChecked, newest) {
		e.next = (e.next + 1) % newest
		if !e.sameSegment(e.next) {
			return false
		}
	}
	return true
}

func (e *entry[S]) sameSegment(i int) bool {
	l := &e.manifest.lines[i]
	now, err := e.folder.stampOf(segmentName(l.First, l.Last))
	return err == nil && e.segments[i].same(&now)
}

// catchUp reads the events that another process has added.
func (s *Store[S]) catchUp(e *entry[S]) error {
	known := len(e.manifest.lines)
	reason, err := e.folder.readManifest(&e.manifest)
	if err != nil || reason != nil {
		return s.load(e) // reports the damage
	}
	for i := known; i < len(e.manifest.lines); i++ {
		events, reason, err := e.folder.readSegment(&e.manifest.lines[i])
		if err != nil || reason != nil {
			return s.load(e)
		}
		if err := s.take(e, events); err != nil {
			return err
		}
	}
	return e.stamp()
}

// load reads the whole session.
func (s *Store[S]) load(e *entry[S]) error {
	e.forget()
	if e.folder != nil {
		_ = e.folder.root.Close() // it was only read
	}
	f, err := s.openFolder(e.id)
	if err != nil {
		e.folder = nil
		s.drop(e.id)
		return err
	}
	e.folder = f
	state := new(S)
	m, h, err := s.scan(e.folder, state)
	if err != nil {
		return err
	}
	if h.Kind != Healthy {
		return &UnhealthyError{h}
	}
	e.state, e.manifest = state, m
	return e.stamp()
}

// stamp records the identities of the files that were read.
func (e *entry[S]) stamp() error {
	for i := len(e.segments); i < len(e.manifest.lines); i++ {
		l := &e.manifest.lines[i]
		now, err := e.folder.stampOf(segmentName(l.First, l.Last))
		if err != nil {
			e.forget()
			return err
		}
		e.segments = append(e.segments, now)
	}
	now, err := e.folder.stampOf(manifestName)
	if err != nil {
		e.forget()
		return err
	}
	e.seen = now
	return nil
}

// foldError is the error for a well-formed event with invalid content.
type foldError struct {
	index uint64
	err   error
}

// Error names the event.
func (e *foldError) Error() string { return fmt.Sprintf("event %d: %s", e.index, e.err) }

// scan reads a whole session and folds its events into state. An event with invalid content is damage.
func (s *Store[S]) scan(f *folder, state *S) (manifest, Health, error) {
	m, h, err := f.scan(func(event Event) error {
		if err := s.fold(state, event); err != nil {
			return &foldError{event.Index, err}
		}
		return nil
	})
	if wrong, ok := errors.AsType[*foldError](err); ok {
		return m, healthOf(invalid("%s", wrong), wrong.index-1), nil
	}
	return m, h, err
}
