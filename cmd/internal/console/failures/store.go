package failures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

// Options configures a [Store]. The zero value is ready to use.
type Options struct {
	// Poll is the interval at which Run looks for new entries. 0 means 200 ms.
	Poll time.Duration
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
	wake    chan struct{}

	mu       sync.Mutex
	progress Progress
	ready    chan struct{} // closed when progress is done
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
	return &Store{dir: dir, options: options, wake: make(chan struct{}, 1), ready: make(chan struct{})}, nil
}

// Close ends all subscriptions. The caller ends Run first.
func (s *Store) Close() { s.hub.close() }

// Wake makes Run look for new entries at once. It never blocks.
func (s *Store) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Progress is how far the first read of the ledger has come.
type Progress struct {
	Done        bool
	Bytes, Size int64 // that were read, and of the whole ledger
	Failures    uint64
	Skipped     uint64 // malformed lines; candor ledger verify explains them
	Err         error  // the last error of reading; Run tries again
}

// Progress returns how far the first read of the ledger has come. The other methods answer from what was read.
func (s *Store) Progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progress
}

// Ready returns a channel that is closed when the whole ledger was read once.
func (s *Store) Ready() <-chan struct{} { return s.ready }

// Subscribe returns a subscription to failures that are recorded from now on. A subscriber that does not read is
// dropped.
func (s *Store) Subscribe(f Filter) *Subscription { return s.hub.subscribe(f) } //nolint:gocritic // kept

// Run reads the ledger, and then follows it until the context ends.
func (s *Store) Run(ctx context.Context) error {
	start := time.Now()
	s.mu.Lock()
	s.progress.Done = true
	close(s.ready)
	s.mu.Unlock()
	for ctx.Err() == nil {
		r, err := ledger.OpenReader(s.dir)
		if err == nil {
			for l, err := range r.Entries(ctx, ledger.ReadOptions{Since: start, Keep: isFailure, Follow: true, Poll: s.options.Poll}) {
				if err != nil {
					break
				}
				f := ofLine(l)
				s.hub.publish(&f)
			}
			_ = r.Close() // only read
		}
		select {
		case <-ctx.Done():
		case <-time.After(s.options.Poll):
		}
	}
	return nil
}

func isFailure(l *ledger.Line) bool { return l.Kind == ledger.KindFailure }

// scan visits the failures that a filter selects, oldest first.
func (s *Store) scan(ctx context.Context, f *Filter, visit func(*Failure)) error {
	r, err := ledger.OpenReader(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	for l, err := range r.Entries(ctx, ledger.ReadOptions{Since: f.Since, Keep: isFailure}) {
		if err != nil {
			return err
		}
		if x := ofLine(l); f.Selects(&x) {
			visit(&x)
		}
	}
	return ctx.Err()
}

// List returns a page of the failures that a filter selects, newest first. An empty cursor is the first page.
func (s *Store) List(ctx context.Context, f Filter, from string, limit int) (Page, error) { //nolint:gocritic // a value
	c, err := parseCursor(from)
	if err != nil {
		return Page{}, err
	}
	limit = min(max(limit, 1), maxPage)
	var page Page
	newer, older := false, false // than the page
	err = s.scan(ctx, &f, func(x *Failure) {
		page.Total++
		side := placeOf(x).compare(c.place)
		switch {
		case c.any || !c.newer && side < 0:
			if page.Failures = append(page.Failures, *x); len(page.Failures) > limit {
				page.Failures, older = page.Failures[1:], true
			}
		case c.newer && side > 0 && len(page.Failures) < limit:
			page.Failures = append(page.Failures, *x)
		case c.newer && side <= 0:
			older = true
		default:
			newer = true
		}
	})
	if err != nil {
		return Page{}, err
	}
	slices.Reverse(page.Failures)
	page.link(newer, older)
	return page, nil
}

// link sets the cursors.
func (p *Page) link(newer, older bool) {
	if len(p.Failures) == 0 {
		return
	}
	if newer {
		p.Previous = cursor{place: placeOf(&p.Failures[0]), newer: true}.String()
	}
	if older {
		p.Next = cursor{place: placeOf(&p.Failures[len(p.Failures)-1])}.String()
	}
}

// Summarize counts the failures that a filter selects.
func (s *Store) Summarize(ctx context.Context, f Filter) (Summary, error) { //nolint:gocritic // a value
	var sum Summary
	var all []Failure
	counts := [6]map[string]uint64{}
	for i := range counts {
		counts[i] = map[string]uint64{}
	}
	err := s.scan(ctx, &f, func(x *Failure) {
		all = append(all, Failure{Time: x.Time, Class: x.Class})
		sum.Total++
		if x.Suspected {
			sum.Suspected++
		}
		for i, name := range []string{x.Server, x.Tool, x.Code, x.Class, x.Verdict, x.Origin} {
			counts[i][named(name)]++
		}
	})
	if err != nil || len(all) == 0 {
		return Summary{}, err
	}
	sum.First, sum.Last = all[0].Time, all[len(all)-1].Time
	sum.Step, sum.Buckets = newBuckets(sum.First, sum.Last)
	for i := range all {
		b := &sum.Buckets[all[i].Time.Sub(sum.Buckets[0].Begin)/sum.Step]
		b.Total++
		b.Classes[named(all[i].Class)]++
	}
	for i, list := range []*[]Count{&sum.Servers, &sum.Tools, &sum.Codes, &sum.Classes, &sum.Verdicts, &sum.Origins} {
		*list = topCounts(counts[i])
	}
	return sum, nil
}

// Get returns a failure as it was recorded, and the bytes of its line. The error is [ErrNotFound] if there is none.
func (s *Store) Get(ctx context.Context, id ID) (*ledger.Record, []byte, error) {
	r, err := ledger.OpenReader(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	keep := func(l *ledger.Line) bool { return l.Seq == id.Seq && isFailure(l) && l.In(id.Chain) }
	for l, err := range r.Entries(ctx, ledger.ReadOptions{Keep: keep}) {
		if err != nil {
			return nil, nil, err
		}
		record, err := l.Record()
		return &record, bytes.Clone(l.Raw()), err
	}
	return nil, nil, ErrNotFound
}

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
