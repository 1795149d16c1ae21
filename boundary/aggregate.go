package boundary

import (
	"sync"
	"time"

	"github.com/candor-mcp/candor"
)

// Aggregate is a number of errors of one kind: the same code of the same tool.
type Aggregate struct {
	First *candor.Error // the first of them
	Count int           // how many there are
	Since time.Time     // when the first was added
	Last  time.Time     // when the last was added
	Refs  []string      // the refs of the first five that have one
	Other bool          // they are of several kinds, for which there was no room
}

// Aggregator keeps a flood of identical errors from flooding whoever is told of them. The first error of a kind is reported at
// once, and those that follow are counted and reported together once a window for as long as they keep coming. Nothing is lost:
// the counts of all reports add up to the errors that were added, once [Aggregator.Close] has returned.
//
// Set Report, and leave the rest at zero if it suits. An Aggregator is safe for concurrent use.
type Aggregator struct {
	// Report gets each aggregate; nil drops it. It is called without a lock held, from any goroutine, and perhaps by several at once.
	Report func(Aggregate)
	// Window is the time between two reports of one kind; 0 stands for a minute.
	Window time.Duration
	// MaxKinds bounds the kinds that are told apart in a window; 0 stands for 1024. The others are counted together and reported
	// as Other, so that a peer that invents kinds costs no memory and no report each.
	MaxKinds int

	mu     sync.Mutex // guards what follows
	open   map[errorKind]*openWindow
	closed bool
}

// errorKind is what makes two errors the same. The zero kind holds the others.
type errorKind struct {
	code candor.Code
	tool string
}

// openWindow is what came of one kind since the last report; its timer runs for as long as the kind is open.
type openWindow struct {
	sum   Aggregate
	timer *time.Timer
}

const maxRefs = 5

// Add counts an error. nil is none.
func (a *Aggregator) Add(e *candor.Error) {
	if e == nil {
		return
	}
	now := time.Now()
	if a.count(e, now) {
		one := Aggregate{Since: now}
		one.add(e, now)
		a.report(one)
	}
}

func (a *Aggregator) report(sum Aggregate) {
	if a.Report != nil {
		a.Report(sum)
	}
}

// count reports whether the error is to be reported now, rather than counted.
func (a *Aggregator) count(e *candor.Error, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return true // there is no later
	}
	k := errorKind{e.Code(), e.CallInfo().Tool}
	t, known := a.open[k]
	if !known && len(a.open) < orDefault(a.MaxKinds, 1024) {
		a.start(k)
		return true
	}
	if !known {
		k = errorKind{}
		if t, known = a.open[k]; !known {
			t = a.start(k)
		}
		t.sum.Other = true
	}
	if t.sum.Count == 0 {
		t.sum.Since = now
	}
	t.sum.add(e, now)
	return false
}

// start opens a window for a kind.
func (a *Aggregator) start(k errorKind) *openWindow {
	if a.open == nil {
		a.open = map[errorKind]*openWindow{}
	}
	t := &openWindow{}
	t.timer = time.AfterFunc(a.window(), func() { a.elapse(k, t) })
	a.open[k] = t
	return t
}

func (a *Aggregator) window() time.Duration { return orDefault(a.Window, time.Minute) }

// elapse ends a window. A kind of which nothing came is forgotten: its next error is a first one again.
func (a *Aggregator) elapse(k errorKind, t *openWindow) {
	a.mu.Lock()
	if a.open[k] != t { // it was flushed in the meantime
		a.mu.Unlock()
		return
	}
	sum := t.sum
	t.sum = Aggregate{}
	if sum.Count == 0 {
		delete(a.open, k)
	} else {
		t.timer.Reset(a.window())
	}
	a.mu.Unlock()
	if sum.Count > 0 {
		a.report(sum)
	}
}

// Flush reports what was counted and not yet reported, and begins anew.
func (a *Aggregator) Flush() { a.drain(false) }

// Close is [Aggregator.Flush] for the last time: what is added later is reported one by one.
func (a *Aggregator) Close() { a.drain(true) }

func (a *Aggregator) drain(last bool) {
	a.mu.Lock()
	open := a.open
	a.open = nil
	a.closed = a.closed || last
	a.mu.Unlock()
	for _, t := range open { // nobody else can reach them now
		t.timer.Stop()
		if t.sum.Count > 0 {
			a.report(t.sum)
		}
	}
}

func (g *Aggregate) add(e *candor.Error, now time.Time) {
	if g.First == nil {
		g.First = e
	}
	g.Count++
	g.Last = now
	if ref := e.Ref(); ref != "" && len(g.Refs) < maxRefs {
		g.Refs = append(g.Refs, ref)
	}
}
