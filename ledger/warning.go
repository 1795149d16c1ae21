package ledger

import (
	"sync/atomic"
)

// Warning is a problem that an operator should know about.
type Warning struct {
	Kind string // one of full, space-back, poisoned, recovered, witness-copy, upkeep, permissions
	Text string
	Err  error // may be nil
}

// The kinds of warnings.
const (
	warningFull        = "full"         // the disk is full; entries are refused
	warningSpaceBack   = "space-back"   // disk space is available again
	warningPoisoned    = "poisoned"     // a chain was given up because the disk failed or its files were removed or changed
	warningRecovered   = "recovered"    // a recovered chain had to be cut or is damaged
	warningWitnessCopy = "witness-copy" // a checkpoint could not be written to the witness copy
	warningUpkeep      = "upkeep"       // compressing or removing old segments failed; the next round tries again
	warningPermissions = "permissions"  // other users can read the folder
)

// warner delivers warnings to the operator without blocking the writer.
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

// warn queues a warning. It never blocks: if the queue is full, the warning is dropped and counted.
func (w *warner) warn(kind string, text string, err error) {
	select {
	case w.out <- Warning{Kind: kind, Text: text, Err: err}:
	default:
		w.dropped.Add(1)
	}
}

// close waits until the last warning was delivered. warn must not be called afterwards.
func (w *warner) close() {
	close(w.out)
	<-w.done
}
