package failures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a [Store]. The zero value is ready to use.
type Options struct {
	// Poll is the interval at which Run looks for new entries. 0 means 200 ms.
	Poll time.Duration
	// Nodes means that the folder has one ledger for each node, in a folder with the node's name.
	Nodes bool
}

// Limits of the lists.
const (
	maxPage     = 1000 // failures of a page
	maxFound    = 100  // failures that Find returns
	maxTimeline = 1000 // failures of a timeline
)

// ErrNotFound means that the ledger has no such failure, or has it no more.
var ErrNotFound = errors.New("no such failure; it may have been removed with the segment that it was in")

// Store reads the failures of a ledger. Its methods are safe for concurrent use.
type Store struct {
	dir     string
	options Options
	hub     hub
	db      *database
	wake    chan struct{}
	running atomic.Bool

	failures, skipped atomic.Int64

	ready chan struct{} // closed when the first read is done

	mu  sync.Mutex
	err error // of the last look at the ledger
}

// Open returns a store of the ledger in dir, which need not exist yet. It reads nothing; see [Store.Run].
func Open(dir string, options Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder; name the folder that contains the chains", dir)
	}
	if options.Poll <= 0 {
		options.Poll = 200 * time.Millisecond
	}
	db, err := openDatabase()
	if err != nil {
		return nil, err
	}
	return &Store{dir: dir, options: options, db: db, wake: make(chan struct{}, 1), ready: make(chan struct{})}, nil
}

// Close ends all subscriptions and removes the index. The caller ends Run and all queries first.
func (s *Store) Close() error {
	s.hub.close()
	return s.db.close()
}

// Wake makes Run look for new entries at once. It never blocks.
func (s *Store) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// HasNodes reports whether the store reads the ledgers of many nodes.
func (s *Store) HasNodes() bool { return s.options.Nodes }

// Progress is how far the first read of the ledger has come.
type Progress struct {
	Done     bool
	Failures uint64
	Skipped  uint64 // malformed lines; candor ledger verify explains them
	Err      error  // the last error of reading; Run tries again
}

// Progress returns how far the first read of the ledger has come. The other methods answer from what was read.
func (s *Store) Progress() Progress {
	p := Progress{Failures: uint64(s.failures.Load()), Skipped: uint64(s.skipped.Load())} //nolint:gosec // counts
	select {
	case <-s.ready:
		p.Done = true
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Err = s.err
	return p
}

// note keeps the error of the last look at the ledger.
func (s *Store) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Ready returns a channel that is closed when the whole ledger was read once.
func (s *Store) Ready() <-chan struct{} { return s.ready }

// Subscribe returns a subscription to failures that are recorded from now on. A subscriber that does not read is
// dropped.
func (s *Store) Subscribe(f Filter) *Subscription { return s.hub.subscribe(f) } //nolint:gocritic // kept

// Find returns the failures whose ref begins with a prefix, newest first, at most 100.
func (s *Store) Find(ctx context.Context, refPrefix string) ([]Failure, error) {
	if refPrefix == "" {
		return nil, nil
	}
	page, err := s.List(ctx, Filter{Ref: refPrefix}, "", maxFound)
	return page.Failures, err
}

// Similar returns the newest n other failures with the same server, tool and code.
func (s *Store) Similar(ctx context.Context, f Failure, n int) ([]Failure, error) { //nolint:gocritic // a value
	page, err := s.List(ctx, Filter{Server: named(f.Server), Tool: named(f.Tool), Code: named(f.Code)}, "", n+1)
	same := slices.DeleteFunc(page.Failures, func(x Failure) bool { return x.ID == f.ID }) //nolint:gocritic // its type
	return same[:min(len(same), n)], err
}

// Timeline returns the failures of a session, oldest first. If there are more than 1000 it returns the newest, and
// more is true.
func (s *Store) Timeline(ctx context.Context, session string) (list []Failure, more bool, err error) {
	if session == "" {
		return nil, false, nil
	}
	page, err := s.List(ctx, Filter{Session: session}, "", maxTimeline)
	slices.Reverse(page.Failures)
	return page.Failures, page.Next != "", err
}
