package ledger

import "runtime"

// Only the holder of the writer's lock writes. A caller that finds the lock free writes its own entry and all that were queued meanwhile, which
// saves two changes of goroutine where there is only one caller. The writer's own goroutine does the rest: it goes on where a caller has left
// others waiting, and does what is due when nobody calls.
//
// Nobody is forgotten: a caller who does not get the lock has queued before it asked, and whoever holds the lock looks at the queue after giving
// it back. The lock is a channel because it is held while the disk is waited for.

// lead writes one batch if nobody else is writing. The caller's own request is in it, or already taken.
func (w *writer) lead() {
	select {
	case w.turn <- struct{}{}:
	default:
		return
	}
	w.serve()
	more := w.unsettled()
	w.pass()
	if more || w.ledger.queue.len() > 0 {
		w.ledger.queue.ring()
	}
}

// pass gives the lock back.
func (w *writer) pass() { <-w.turn }

// serve handles one batch and returns how many were in it. The lock is held.
func (w *writer) serve() int {
	w.batch = w.ledger.queue.take(w.batch[:0], maxBatch)
	if len(w.batch) > 0 {
		w.handle(w.batch)
	}
	clear(w.batch)
	return len(w.batch)
}

// run goes on until the queue is closed and empty, then closes the chain.
func (w *writer) run() error {
	for {
		closing := w.ledger.queue.isClosed()
		w.turn <- struct{}{}
		for n := w.serve(); n > 0; n = w.serve() {
			if n > 1 {
				w.gather()
			}
		}
		w.settle()
		if closing {
			defer w.pass()
			return w.finish()
		}
		w.pass()
		w.wait()
	}
}

// gather lets those who were just answered speak again before the next batch is taken, so that they are in it and not in the one after it. It
// waits for nobody: it ends as soon as a turn of the scheduler brings nothing new.
func (w *writer) gather() {
	const turns = 8
	waiting := w.ledger.queue.len()
	for range turns {
		runtime.Gosched()
		now := w.ledger.queue.len()
		if now == waiting {
			return
		}
		waiting = now
	}
}

// wait returns when there is something to do.
func (w *writer) wait() {
	if w.ledger.queue.len() > 0 {
		return
	}
	select {
	case <-w.ledger.queue.wake:
	case <-w.timer.C:
		w.turn <- struct{}{}
		defer w.pass()
		w.due = true
		w.handle(nil)
	}
}
