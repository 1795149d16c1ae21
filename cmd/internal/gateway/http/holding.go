package httpgate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// memoryBudget is a budget of memory that messages share. Who comes when it is used up waits, and so does the peer that sends the message,
// because nothing more of it is read. Small messages are not worth the accounting; how many there can be at once is bounded elsewhere.
//
// A message whose length is not known needs more again and again, and waits while it holds some. If all that hold some wait, nobody
// would ever give anything back: then one of them gets what it needs. So the most that is held is the budget and one message.
type memoryBudget struct {
	limit   int64
	timeout time.Duration // how long somebody may wait

	mu    sync.Mutex
	used  int64           // guarded by mu, like all below
	busy  int             // those that hold some and do not wait
	queue []*budgetWaiter // empty unless somebody is busy
}

// budgetWaiter is somebody who waits for room.
type budgetWaiter struct {
	held, need int64
	granted    chan struct{} // closed when what it needs is its own
}

const smallMessage = 4 << 10 // a message of this size is not accounted for

var (
	errTooLarge     = errors.New("a message is too large")
	errMemoryBudget = errors.New("too many large messages are held")
)

// try makes held what is needed, more or less than before. It is false, and held unchanged, if that takes waiting.
func (h *memoryBudget) try(held *int64, need int64) bool {
	if need <= smallMessage {
		need = 0
	}
	if need == *held {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stepAside(*held)
	if !h.fits(*held, need) {
		h.stepBack(*held, *held)
		return false
	}
	h.stepBack(*held, need)
	if need < *held {
		h.serve()
	}
	*held = need
	return true
}

// wait is try for those who have the time. The error is errMemoryBudget if nothing became free while they had patience.
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

// enqueue puts those that hold some before the others, the last first: it is the nearest to its end.
func (h *memoryBudget) enqueue(held, need int64) *budgetWaiter {
	w := &budgetWaiter{held: held, need: need, granted: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stepAside(held)
	if held > 0 {
		h.queue = slices.Insert(h.queue, 0, w)
	} else {
		h.queue = append(h.queue, w)
	}
	h.serve()
	return w
}

// dequeue ends the waiting. It is false if there was room at the last moment.
func (h *memoryBudget) dequeue(w *budgetWaiter) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.queue, w)
	if i < 0 {
		return false
	}
	h.queue = slices.Delete(h.queue, i, i+1)
	h.stepBack(w.held, w.held)
	return true
}

// stepAside stops counting somebody among the busy, and stepBack counts it again with what it holds now. The mutex is held.
func (h *memoryBudget) stepAside(held int64) {
	if held > 0 {
		h.busy--
	}
}

func (h *memoryBudget) stepBack(held, now int64) {
	h.used += now - held
	if now > 0 {
		h.busy++
	}
}

// fits reports whether somebody who has stepped aside may hold what it needs; the mutex is held.
func (h *memoryBudget) fits(held, need int64) bool {
	return need <= held || h.used-held+need <= h.limit || h.busy == 0
}

// serve gives room to all who wait and fit; the mutex is held.
func (h *memoryBudget) serve() {
	h.queue = slices.DeleteFunc(h.queue, func(w *budgetWaiter) bool {
		if !h.fits(w.held, w.need) {
			return false
		}
		h.stepBack(w.held, w.need)
		close(w.granted)
		return true
	})
}
