package client

import (
	"sync"
	"time"

	"github.com/candor-mcp/candor"
)

// Aggregate summarises errors of one kind, that is, with the same code and tool.
type Aggregate struct {
	First *candor.Error // the first error
	Count int           // the number of errors
	Since time.Time     // when the first error was added
	Last  time.Time     // when the last error was added
	Refs  []string      // the refs of the first five errors that have one
	Other bool          // the errors are of several kinds, beyond MaxKinds
}

// Aggregator reduces many equal errors to few reports. It reports the first error of a kind at once, counts those that follow,
// and reports their count once per window for as long as there are any. The counts of all reports add up to the number of errors
// that were added, once [Aggregator.Stop] has returned.
//
// Set Report; the other fields may be zero. An Aggregator is safe for concurrent use.
type Aggregator struct {
	// Report is called with each aggregate, without a lock held and possibly from several goroutines at once. nil discards the
	// aggregates.
	Report func(Aggregate)
	// Window is the time between two reports of one kind. 0 means a minute.
	Window time.Duration
	// MaxKinds is the maximum number of kinds in a window. 0 means 1024. Errors of further kinds are counted together and
	// reported as Other, so that a peer cannot use up memory by inventing kinds.
	MaxKinds int

	mu      sync.Mutex // guards the fields below
	windows map[errorKind]*window
	stopped bool
}

// errorKind is the key of equal errors. The zero kind counts those beyond MaxKinds.
type errorKind struct {
	code candor.Code
	tool string
}

// window counts the errors of one kind since the last report.
type window struct {
	sum   Aggregate
	timer *time.Timer // runs until a window without errors ends
}

const maxRefs = 5

// Add counts an error. It ignores nil.
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

// count counts the error for a later report, or returns true if it must be reported now.
func (a *Aggregator) count(e *candor.Error, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return true // there is no later report
	}
	k := errorKind{e.Code(), e.CallInfo().Tool}
	w, known := a.windows[k]
	if !known && len(a.windows) < orDefault(a.MaxKinds, 1024) {
		a.start(k)
		return true
	}
	if !known {
		k = errorKind{}
		if w, known = a.windows[k]; !known {
			w = a.start(k)
		}
		w.sum.Other = true
	}
	if w.sum.Count == 0 {
		w.sum.Since = now
	}
	w.sum.add(e, now)
	return false
}

// start opens a window for a kind. The caller holds the lock.
func (a *Aggregator) start(k errorKind) *window {
	if a.windows == nil {
		a.windows = map[errorKind]*window{}
	}
	w := &window{}
	w.timer = time.AfterFunc(a.length(), func() { a.elapse(k, w) })
	a.windows[k] = w
	return w
}

func (a *Aggregator) length() time.Duration { return orDefault(a.Window, time.Minute) }

// elapse ends a window. A kind without errors in it is deleted, so that its next error is reported at once.
func (a *Aggregator) elapse(k errorKind, w *window) {
	a.mu.Lock()
	if a.windows[k] != w { // it was flushed in the meantime
		a.mu.Unlock()
		return
	}
	sum := w.sum
	w.sum = Aggregate{}
	if sum.Count == 0 {
		delete(a.windows, k)
	} else {
		w.timer.Reset(a.length())
	}
	a.mu.Unlock()
	if sum.Count > 0 {
		a.report(sum)
	}
}

// Flush reports all errors that were counted and not yet reported, and starts new windows.
func (a *Aggregator) Flush() { a.drain(false) }

// Stop flushes the aggregator and stops its timers. Errors that are added later are reported one by one.
func (a *Aggregator) Stop() { a.drain(true) }

func (a *Aggregator) drain(stop bool) {
	a.mu.Lock()
	windows := a.windows
	a.windows = nil
	a.stopped = a.stopped || stop
	a.mu.Unlock()
	for _, w := range windows { // no other goroutine can reach them now
		w.timer.Stop()
		if w.sum.Count > 0 {
			a.report(w.sum)
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
