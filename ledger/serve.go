package ledger

import "runtime"

// Only the holder of the writer's lock writes. A caller that finds the lock free writes its own entry and all entries
// that were queued meanwhile, which saves two goroutine switches if there is only one caller. The writer's goroutine
// does the remaining work: it writes entries that a caller left in the queue, and does what is due while there are no
// calls.
//
// No request is missed: a caller queues its request before it tries to get the lock, and the holder of the lock looks
// at the queue after releasing it. The lock is a channel because it is held during disk operations.

// lead writes one batch unless another goroutine is writing. The batch contains the caller's request, unless that was
// already taken.
func (w *writer) lead() {
	select {
	case w.turn <- struct{}{}:
	default:
		return
	}
	w.serve()
	more := w.needsSync()
	w.pass()
	if more || w.ledger.queue.len() > 0 {
		w.ledger.queue.ring()
	}
}

// pass releases the lock.
func (w *writer) pass() { <-w.turn }

// serve handles one batch and returns its size. The caller holds the lock.
func (w *writer) serve() int {
	w.batch = w.ledger.queue.take(w.batch[:0], maxBatch)
	if len(w.batch) > 0 {
		w.handle(w.batch)
	}
	clear(w.batch)
	return len(w.batch)
}

// run writes batches until the queue is closed and empty, then closes the chain.
func (w *writer) run() error {
	for {
		closing := w.ledger.queue.isClosed()
		w.turn <- struct{}{}
		for n := w.serve(); n > 0; n = w.serve() {
			if n > 1 {
				w.gather()
			}
		}
		w.syncIdle()
		if closing {
			defer w.pass()
			return w.finish()
		}
		w.pass()
		w.wait()
	}
}

// gather yields to the callers that were just answered before the next batch is taken, so that their next entries are
// part of it. It does not block: it ends as soon as yielding once adds no request.
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

// wait returns when there is work to do.
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

// signNow signs a checkpoint over all entries without waiting until it is due. The writer's goroutine makes it durable.
func (w *writer) signNow() {
	w.turn <- struct{}{}
	w.due = true
	w.handle(nil)
	w.pass()
	w.ledger.queue.ring()
}
