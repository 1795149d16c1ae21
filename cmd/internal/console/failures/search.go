package failures

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Limits of searches for a text, which read the ledger.
const (
	maxSearch    = 20 * time.Second
	keptSearches = 8
)

// ErrSlow means that a search for a text took too long. The same search can be repeated and continues where it stopped.
var ErrSlow = fmt.Errorf("the search took more than %v; try again, or narrow it by time, tool or code", maxSearch)

// marks holds the results of the last searches for texts. Searches take turns.
type marks struct {
	turn chan struct{} // holds one element while a search is running
	list []*searched   // most recent last
}

// searched is the result of a search for one text: for each row of a segment whether its line was read, and whether it
// has the text.
type searched struct {
	text string
	mu   sync.Mutex
	bits map[*segment]*bits
}

// of returns the results for a segment.
func (x *searched) of(s *segment) *bits {
	x.mu.Lock()
	defer x.mu.Unlock()
	b := x.bits[s]
	if b == nil {
		b = &bits{}
		x.bits[s] = b
	}
	return b
}

// bits are results for the rows of a segment. One goroutine at a time uses them.
type bits struct{ known, found []uint64 }

// state returns what is known about a row: accepted, rejected or search.
func (b *bits) state(i int) byte {
	word, bit := i/64, uint64(1)<<(i%64)
	switch {
	case word >= len(b.known) || b.known[word]&bit == 0:
		return search
	case b.found[word]&bit == 0:
		return rejected
	}
	return accepted
}

// set notes the result for a row.
func (b *bits) set(i int, found bool) {
	word, bit := i/64, uint64(1)<<(i%64)
	if more := word + 1 - len(b.known); more > 0 {
		b.known = append(b.known, make([]uint64, more)...)
		b.found = append(b.found, make([]uint64, more)...)
	}
	b.known[word] |= bit
	if found {
		b.found[word] |= bit
	}
}

// get returns the results for a text. The caller has the turn.
func (m *marks) get(text string, view *view) *searched {
	i := slices.IndexFunc(m.list, func(x *searched) bool { return x.text == text })
	x := &searched{text: text, bits: map[*segment]*bits{}}
	if i >= 0 {
		x = m.list[i]
		m.list = slices.Delete(m.list, i, i+1)
	}
	m.list = append(m.list, x)
	if len(m.list) > keptSearches {
		m.list = slices.Delete(m.list, 0, 1)
	}
	there := map[*segment]bool{}
	for i := range view.segments {
		there[view.segments[i].segment] = true
	}
	for s := range x.bits {
		if !there[s] {
			delete(x.bits, s)
		}
	}
	return x
}

// search reads the lines that may have the text and were not read before. It returns a function that ends the turn.
func (q *query) search(ctx context.Context) (release func(), err error) {
	m := &q.store.marks
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = func() { <-m.turn }
	q.found = m.get(q.text, &q.view)
	limited, cancel := context.WithTimeoutCause(ctx, maxSearch, ErrSlow)
	defer cancel()
	if err := q.searchAll(limited); err != nil {
		release()
		if errors.Is(context.Cause(limited), ErrSlow) {
			err = ErrSlow
		}
		return nil, err
	}
	return release, nil
}

// searchAll searches several segments at the same time, newest first.
func (q *query) searchAll(ctx context.Context) error {
	next := make(chan *segmentView)
	var workers sync.WaitGroup
	var once sync.Once
	var failed error
	for range min(4, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for v := range next {
				if ctx.Err() != nil {
					continue
				}
				if _, err := q.matches(ctx, v, nil); err != nil {
					once.Do(func() { failed = err })
				}
			}
		})
	}
	for i := range q.view.segments {
		next <- &q.view.segments[i]
	}
	close(next)
	workers.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}
