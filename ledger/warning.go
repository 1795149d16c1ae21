package ledger

import (
	"sync/atomic"
)

// Warning is something an operator should see.
type Warning struct {
	Kind WarningKind
	Text string
	Err  error // nil if there is none
}

// WarningKind is what a warning is about. It is a closed set, fit for a label.
type WarningKind string

// The kinds of warning.
const (
	WarningLowSpace    WarningKind = "low-space"    // little disk space is left
	WarningFull        WarningKind = "full"         // no disk space is left; entries are refused
	WarningSpaceBack   WarningKind = "space-back"   // there is disk space again
	WarningPoisoned    WarningKind = "poisoned"     // a chain was given up because the disk failed under it, or its files were taken away
	WarningRecovered   WarningKind = "recovered"    // something had to be cut from, or is wrong with, a chain that was found
	WarningSecondPlace WarningKind = "second-place" // a checkpoint could not be written to the second place
	WarningUpkeep      WarningKind = "upkeep"       // compressing or removing old segments failed; it is tried again
	WarningPermissions WarningKind = "permissions"  // the folder can be read by others
)

// warner hands warnings to the operator without making the writer wait.
type warner struct {
	out     chan Warning
	done    chan struct{}
	dropped atomic.Uint64
}

func newWarner(tell func(Warning)) *warner {
	w := &warner{out: make(chan Warning, 64), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for warning := range w.out {
			if tell != nil {
				tell(warning)
			}
		}
	}()
	return w
}

// warn never waits: an operator who is not listening misses some.
func (w *warner) warn(kind WarningKind, text string, err error) {
	select {
	case w.out <- Warning{Kind: kind, Text: text, Err: err}:
	default:
		w.dropped.Add(1)
	}
}

// close waits until the last warning was told. Nobody may warn any more.
func (w *warner) close() {
	close(w.out)
	<-w.done
}
