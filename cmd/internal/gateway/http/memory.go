package httpgate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// memoryBudget limits the memory that messages share. When it is used up, reservations wait, and so do the peers that send,
// because nothing more is read from them. Small messages are not counted; their number is limited elsewhere.
//
// A message of unknown length increases its reservation repeatedly, and waits while it holds memory. If all holders wait, none
// would ever release memory, so one of them is granted its request. So at most the budget and one message are held.
type memoryBudget struct {
	limit   int64
	timeout time.Duration // how long a reservation may wait

	mu    sync.Mutex
	used  int64           // guarded by mu, like the fields below
	busy  int             // number of holders that are not waiting
	queue []*budgetWaiter // empty unless a holder is busy
}

// budgetWaiter is a reservation that waits.
type budgetWaiter struct {
	held, need int64
	granted    chan struct{} // closed when the memory is granted
}

const smallMessage = 4 << 10 // messages up to this size are not counted

var (
	errTooLarge     = errors.New("a message is too large")
	errMemoryBudget = errors.New("too many large messages are held")
)

// try changes the reservation from held to need, which may be smaller. It returns false, and does not change held, if that
// requires waiting.
func (h *memoryBudget) try(held *int64, need int64) bool {
	if need <= smallMessage {
		need = 0
	}
	if need == *held {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pauseHolder(*held)
	if !h.fits(*held, need) {
		h.resumeHolder(*held, *held)
		return false
	}
	h.resumeHolder(*held, need)
	if need < *held {
		h.serve()
	}
	*held = need
	return true
}

// wait is like try, but waits until the memory is free. The error is errMemoryBudget if that takes longer than the timeout.
func (h *memoryBudget) wait(ctx context.Context, held *int64, need int64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.timeout, errMemoryBudget)
	defer cancel()
	w := h.enqueue(*held, need)
	select {
	case <-w.granted:
	case <-ctx.Done():
		if h.dequeue(w) {
			return context.Cause(ctx)
		}
	}
	*held = need
	return nil
}

// enqueue adds a waiter. Waiters that hold memory come before the others, the latest first, because it is closest to completion.
func (h *memoryBudget) enqueue(held, need int64) *budgetWaiter {
	w := &budgetWaiter{held: held, need: need, granted: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pauseHolder(held)
	if held > 0 {
		h.queue = slices.Insert(h.queue, 0, w)
	} else {
		h.queue = append(h.queue, w)
	}
	h.serve()
	return w
}

// dequeue removes a waiter. It returns false if the memory was granted in the meantime.
func (h *memoryBudget) dequeue(w *budgetWaiter) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.queue, w)
	if i < 0 {
		return false
	}
	h.queue = slices.Delete(h.queue, i, i+1)
	h.resumeHolder(w.held, w.held)
	return true
}

// pauseHolder stops counting a holder as busy, and resumeHolder counts it again with its new size. The mutex must be held.
func (h *memoryBudget) pauseHolder(held int64) {
	if held > 0 {
		h.busy--
	}
}

func (h *memoryBudget) resumeHolder(held, now int64) {
	h.used += now - held
	if now > 0 {
		h.busy++
	}
}

// fits reports whether a paused holder may hold need bytes. The mutex must be held.
func (h *memoryBudget) fits(held, need int64) bool {
	return need <= held || h.used-held+need <= h.limit || h.busy == 0
}

// serve grants memory to all waiters that fit. The mutex must be held.
func (h *memoryBudget) serve() {
	h.queue = slices.DeleteFunc(h.queue, func(w *budgetWaiter) bool {
		if !h.fits(w.held, w.need) {
			return false
		}
		h.resumeHolder(w.held, w.need)
		close(w.granted)
		return true
	})
}
