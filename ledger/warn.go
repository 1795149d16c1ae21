package ledger

import "sync/atomic"

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
