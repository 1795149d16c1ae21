package httpguard

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Budget limits the memory that messages share. When it is used up, reservations wait, and so do the peers that send,
// because nothing more is read from them. A message of unknown length increases its reservation repeatedly, and waits
// while it holds memory; if all holders wait for each other, the first of them fails at its timeout.
type Budget struct {
	Limit   int64         // a larger message reserves all of it
	Timeout time.Duration // how long a reservation may wait
	Small   int64         // reservations up to this size are not counted

	once sync.Once
	free *semaphore.Weighted
}

var (
	// ErrTooLarge is the error for a message that is longer than its limit.
	ErrTooLarge = errors.New("a message is too large")
	// ErrBudget is the error for a reservation that got no memory in time.
	ErrBudget = errors.New("too many large messages are held")
)

// Reserve changes the reservation from held to need, which may be smaller, and waits until the memory is free. The
// error is [ErrBudget] if that takes longer than the timeout.
func (h *Budget) Reserve(ctx context.Context, held *int64, need int64) error {
	return h.reserve(ctx, held, need, func() {})
}

// Release gives the reservation back.
func (h *Budget) Release(held *int64) { _ = h.reserve(context.Background(), held, 0, nil) } // only growth may fail

// reserve is Reserve. It calls beforehand before it waits.
func (h *Budget) reserve(ctx context.Context, held *int64, need int64, beforehand func()) error {
	h.once.Do(func() { h.free = semaphore.NewWeighted(h.Limit) })
	if need <= h.Small {
		need = 0
	}
	need = min(need, h.Limit)
	switch more := need - *held; {
	case more < 0:
		*held = need // before a waiter may go on
		h.free.Release(-more)
		return nil
	case more > 0 && !h.free.TryAcquire(more):
		beforehand()
		ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, ErrBudget)
		defer cancel()
		if h.free.Acquire(ctx, more) != nil {
			return context.Cause(ctx)
		}
	}
	*held = need
	return nil
}

// SplitBudget limits the memory of messages. A quarter is for messages of up to Midsize bytes, and a quarter for those of up to a
// sixteenth of the total, so that a client that does not finish or read a larger message cannot block the others.
type SplitBudget struct {
	parts  [3]Budget
	medium int64 // the largest message of the second part
}

// Share is the share of one exchange in each part of a [SplitBudget].
type Share [3]int64

// Sizes of messages that a [SplitBudget] distinguishes.
const (
	SmallMessage = 4 << 10  // a SplitBudget does not count messages up to this size; their number must be limited otherwise
	Midsize      = 64 << 10 // the largest message of the first part
)

// NewSplitBudget returns a budget of limit bytes, for which reservations wait up to timeout.
func NewSplitBudget(limit int64, timeout time.Duration) *SplitBudget {
	s := &SplitBudget{medium: limit / 16}
	for i, part := range []int64{limit / 4, limit / 4, limit / 2} {
		s.parts[i].Limit, s.parts[i].Timeout, s.parts[i].Small = part, timeout, SmallMessage
	}
	return s
}

// Reserve adjusts the share to a message of that size. A message that grows into another part keeps its share while it
// waits. Beforehand is called before Reserve waits.
func (s *SplitBudget) Reserve(ctx context.Context, of *Share, size int64, beforehand func()) error {
	part := 0
	switch {
	case size > s.medium:
		part = 2
	case size > Midsize:
		part = 1
	}
	if err := s.parts[part].reserve(ctx, &of[part], size, beforehand); err != nil {
		return err
	}
	for i := range of {
		if i != part {
			s.parts[i].Release(&of[i])
		}
	}
	return nil
}

// Release gives the share back.
func (s *SplitBudget) Release(of *Share) {
	for i := range of {
		s.parts[i].Release(&of[i])
	}
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

// nextSize returns the next capacity for a full buffer. An announced length is trusted up to eight times the bytes
// received so far, so a peer that announces much and sends little reserves little. One byte more than the limit shows
// whether the message has ended.
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
