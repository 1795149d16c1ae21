package ledger

import (
	"sync/atomic"
)

// Warning is something an operator should see.
type Warning struct {
	Kind string // a closed set: low-space, full, space-back, poisoned, recovered, second-place, upkeep, permissions
	Text string
	Err  error // nil if there is none
}

// The kinds of warning.
const (
	warningLowSpace    = "low-space"    // little disk space is left
	warningFull        = "full"         // no disk space is left; entries are refused
	warningSpaceBack   = "space-back"   // there is disk space again
	warningPoisoned    = "poisoned"     // a chain was given up because the disk failed under it, or its files were taken away
	warningRecovered   = "recovered"    // something had to be cut from, or is wrong with, a chain that was found
	warningSecondPlace = "second-place" // a checkpoint could not be written to the second place
	warningUpkeep      = "upkeep"       // compressing or removing old segments failed; it is tried again
	warningPermissions = "permissions"  // the folder can be read by others
)

// warner hands warnings to the operator without making the writer wait.
type warner struct {
	out     chan Warning
	done    chan struct{}
	dropped atomic.Uint64
}

func newWarner(call func(Warning)) *warner {
	w := &warner{out: make(chan Warning, 64), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for warning := range w.out {
			if call != nil {
				call(warning)
			}
		}
	}()
	return w
}

// warn never waits: an operator who is not listening misses some.
func (w *warner) warn(kind string, text string, err error) {
	select {
	case w.out <- Warning{Kind: kind, Text: text, Err: err}:
	default:
		w.dropped.Add(1)
	}
}

// close waits until the last warning was delivered. warn must not be called after it.
func (w *warner) close() {
	close(w.out)
	<-w.done
}
