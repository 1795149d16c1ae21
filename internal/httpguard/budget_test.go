package httpguard

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newBudget(most int64) *Budget {
	return &Budget{Limit: most, Timeout: 30 * time.Second, Small: SmallMessage}
}

// reserveLater reserves need bytes. The channel receives the result.
func (h *Budget) reserveLater(held *int64, need int64) <-chan error {
	got := make(chan error, 1)
	go func() { got <- h.wait(context.Background(), held, need) }()
	synctest.Wait()
	return got
}

func isPending(got <-chan error) bool {
	select {
	case <-got:
		return false
	default:
		return true
	}
}

func TestReservationWaitsUntilMemoryIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newBudget(100 << 10)
		var first, second int64
		if !h.try(&first, 60<<10) || h.try(&second, 60<<10) {
			t.Fatal("want one reservation of two")
		}
		got := h.reserveLater(&second, 60<<10)
		if !isPending(got) {
			t.Fatal("a reservation exceeds the budget")
		}
		h.try(&first, 0)
		if err := <-got; err != nil || second != 60<<10 || h.used != 60<<10 {
			t.Errorf("%v, %d held of %d", err, second, h.used)
		}
	})
}

func TestReservationFailsAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newBudget(100 << 10)
		var first, second int64
		h.try(&first, 60<<10)
		if err := h.wait(t.Context(), &second, 60<<10); !errors.Is(err, ErrBudget) || second != 0 {
			t.Errorf("%v, %d held", err, second)
		}
		h.try(&first, 0)
		if h.used != 0 || h.busy != 0 || len(h.queue) != 0 {
			t.Errorf("left behind: %d used, %d busy, %d waiting", h.used, h.busy, len(h.queue))
		}
	})
}

// TestHoldersDoNotWaitForEachOther uses holders that together hold the whole budget and each need more.
func TestHoldersDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newBudget(100 << 10)
		var first, second, stranger int64
		h.try(&first, 50<<10)
		h.try(&second, 50<<10)
		waits := h.reserveLater(&first, 60<<10)
		comes := h.reserveLater(&stranger, 10<<10)
		if !isPending(waits) || !isPending(comes) {
			t.Fatal("a reservation exceeds the budget")
		}
		if !h.try(&second, 60<<10) {
			t.Fatal("all holders wait for each other")
		}
		if !isPending(waits) || !isPending(comes) {
			t.Fatal("more than one holder exceeds the budget")
		}
		h.try(&second, 0)
		if err := errors.Join(<-waits, <-comes); err != nil {
			t.Error(err)
		}
	})
}

func TestLargeMessagesDoNotBlockSmallOnes(t *testing.T) {
	s := NewSplitBudget(16<<20, time.Nanosecond)
	never := func() {}
	n := 0
	for n < 100 && s.Reserve(t.Context(), new(Share), 1<<20, never) == nil {
		n++
	}
	var usual Share
	if err := s.Reserve(t.Context(), &usual, 40<<10, never); err != nil || n != 12 {
		t.Errorf("%d large messages were admitted, then %v", n, err)
	}
	if err := s.Reserve(t.Context(), &usual, 1<<20, never); !errors.Is(err, ErrBudget) || usual.usual != 40<<10 {
		t.Errorf("%v, and %v is held", err, usual)
	}
}

func TestOneMessageMayExceedTheBudget(t *testing.T) {
	h := newBudget(1 << 20)
	var one int64
	if !h.try(&one, 16<<20) {
		t.Error("a message larger than the budget waits forever")
	}
}

// TestHeldMemoryIsAtMostTheBudgetAndOneMessage uses many holders that grow, give up and release memory at random.
func TestHeldMemoryIsAtMostTheBudgetAndOneMessage(t *testing.T) {
	const most, message = 1 << 20, 512 << 10
	synctest.Test(t, func(t *testing.T) {
		h := newBudget(most)
		var crowd sync.WaitGroup
		for range 50 {
			crowd.Go(func() {
				var held int64
				for range 40 {
					for need := int64(8 << 10); need <= message; need *= 2 {
						if !h.try(&held, need) && h.wait(t.Context(), &held, need) != nil {
							break
						}
						h.mu.Lock()
						if h.used > most+message {
							t.Errorf("%d are held", h.used)
						}
						h.mu.Unlock()
						time.Sleep(time.Duration(rand.IntN(int(time.Second))))
					}
					h.try(&held, 0)
				}
			})
		}
		crowd.Wait()
		if h.used != 0 || h.busy != 0 || len(h.queue) != 0 {
			t.Errorf("left behind: %d used, %d busy, %d waiting", h.used, h.busy, len(h.queue))
		}
	})
}
