package httpguard

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"
)

// Budget limits the memory that messages share. When it is used up, reservations wait, and so do the peers that send, because
// nothing more is read from them.
//
// A message of unknown length increases its reservation repeatedly, and waits while it holds memory. If all holders wait, none
// would ever release memory, so one of them is granted its request. So at most the budget and one message are held.
type Budget struct {
	Limit   int64
	Timeout time.Duration // how long a reservation may wait
	Small   int64         // reservations up to this size are not counted

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

var (
	// ErrTooLarge is the error for a message that is longer than its limit.
	ErrTooLarge = errors.New("a message is too large")
	// ErrBudget is the error for a reservation that got no memory in time.
	ErrBudget = errors.New("too many large messages are held")
)

// Reserve changes the reservation from held to need, which may be smaller, and waits until the memory is free. The error is
// [ErrBudget] if that takes longer than the timeout.
func (h *Budget) Reserve(ctx context.Context, held *int64, need int64) error {
	if h.try(held, need) {
		return nil
	}
	return h.wait(ctx, held, need)
}

// Shrink reduces the reservation to need.
func (h *Budget) Shrink(held *int64, need int64) { h.try(held, min(need, *held)) }

// Release gives the reservation back.
func (h *Budget) Release(held *int64) { h.try(held, 0) }

// try changes the reservation from held to need, which may be smaller. It returns false, and does not change held, if that
// requires waiting.
func (h *Budget) try(held *int64, need int64) bool {
	if need <= h.Small {
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

// wait is Reserve for a reservation that must wait.
func (h *Budget) wait(ctx context.Context, held *int64, need int64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, ErrBudget)
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
func (h *Budget) enqueue(held, need int64) *budgetWaiter {
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
func (h *Budget) dequeue(w *budgetWaiter) bool {
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
func (h *Budget) pauseHolder(held int64) {
	if held > 0 {
		h.busy--
	}
}

func (h *Budget) resumeHolder(held, now int64) {
	h.used += now - held
	if now > 0 {
		h.busy++
	}
}

// fits reports whether a paused holder may hold need bytes. The mutex must be held.
func (h *Budget) fits(held, need int64) bool {
	return need <= held || h.used-held+need <= h.Limit || h.busy == 0
}

// serve grants memory to all waiters that fit. The mutex must be held.
func (h *Budget) serve() {
	h.queue = slices.DeleteFunc(h.queue, func(w *budgetWaiter) bool {
		if !h.fits(w.held, w.need) {
			return false
		}
		h.resumeHolder(w.held, w.need)
		close(w.granted)
		return true
	})
}

// SplitBudget limits the memory of messages. A quarter is for messages of up to Midsize bytes. An eighth is a reserve for messages
// of up to a sixteenth of the total that do not fit in the remaining part, so that a client that does not finish or read a very
// large message cannot block all others.
type SplitBudget struct {
	usual, large, spare Budget
	spareSize           int64 // the largest message that may use spare
}

// Share is the share of one exchange in a [SplitBudget].
type Share struct{ usual, large, spare int64 }

// Sizes of messages that a [SplitBudget] distinguishes.
const (
	SmallMessage = 4 << 10  // a SplitBudget does not count messages up to this size; their number must be limited otherwise
	Midsize      = 64 << 10 // messages above this size are large
)

// NewSplitBudget returns a budget of limit bytes, for which reservations wait up to timeout.
func NewSplitBudget(limit int64, timeout time.Duration) SplitBudget {
	budget := func(limit int64) Budget { return Budget{Limit: limit, Timeout: timeout, Small: SmallMessage} }
	return SplitBudget{usual: budget(limit / 4), large: budget(limit - limit/4 - limit/8), spare: budget(limit / 8), spareSize: limit / 16}
}

// Reserve adjusts the share to a message of that size. A message that became large keeps its usual share while it waits;
// large messages never wait for that part. Beforehand is called before Reserve waits.
func (s *SplitBudget) Reserve(ctx context.Context, of *Share, size int64, beforehand func()) error {
	if size <= Midsize {
		if !s.usual.try(&of.usual, size) {
			beforehand()
			if err := s.usual.wait(ctx, &of.usual, size); err != nil {
				return err
			}
		}
		s.large.try(&of.large, 0)
		s.spare.try(&of.spare, 0)
		return nil
	}
	switch {
	case s.large.try(&of.large, size):
		s.spare.try(&of.spare, 0)
	case size <= s.spareSize && s.spare.try(&of.spare, size):
		s.large.try(&of.large, 0)
	default:
		beforehand()
		if err := s.waitLarge(ctx, of, size); err != nil {
			return err
		}
	}
	s.usual.try(&of.usual, 0)
	return nil
}

// waitLarge waits for the memory of a large message, in whichever part of the budget it becomes free first.
func (s *SplitBudget) waitLarge(ctx context.Context, of *Share, size int64) error {
	if size > s.spareSize {
		if err := s.large.wait(ctx, &of.large, size); err != nil {
			return err
		}
		s.spare.try(&of.spare, 0)
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.large.Timeout, ErrBudget)
	defer cancel()
	large, spare := s.large.enqueue(of.large, size), s.spare.enqueue(of.spare, size)
	select {
	case <-large.granted:
	case <-spare.granted:
	case <-ctx.Done():
	}
	inLarge, inSpare := !s.large.dequeue(large), !s.spare.dequeue(spare)
	if inLarge {
		of.large = size
	}
	if inSpare {
		of.spare = size
	}
	switch {
	case inLarge:
		s.spare.try(&of.spare, 0)
	case inSpare:
		s.large.try(&of.large, 0)
	default:
		return context.Cause(ctx)
	}
	return nil
}

// Release gives the share back.
func (s *SplitBudget) Release(of *Share) {
	s.usual.try(&of.usual, 0)
	s.large.try(&of.large, 0)
	s.spare.try(&of.spare, 0)
}

// ReadBody reads a message of at most limit bytes. Said is the announced length, or -1 if it is unknown. It calls reserve before its
// buffer grows. If the message is longer, the error is [ErrTooLarge] and the bytes are its beginning.
func ReadBody(r io.Reader, said, limit int64, reserve func(size int64) error) ([]byte, error) {
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			size := nextSize(int64(cap(buf)), said, limit)
			if err := reserve(min(size, limit)); err != nil {
				return buf, err
			}
			buf = append(make([]byte, 0, size), buf...)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return buf[:limit], ErrTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// nextSize returns the next capacity for a full buffer. An announced length is trusted up to eight times the bytes received so
// far, so a peer that announces much and sends little reserves little. One byte more than the limit shows whether the message has
// ended.
func nextSize(have, said, limit int64) int64 {
	size := 2 * have
	switch {
	case have == 0 && said < 0:
		size = 512
	case have == 0:
		size = min(said, Midsize) + 1
	case said >= have:
		size = min(said, 8*have) + 1
	}
	return min(size, limit+1)
}
