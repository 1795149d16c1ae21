package httpgate

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newHolding(most int64) *memoryBudget {
	return &memoryBudget{limit: most, timeout: 30 * time.Second}
}

// wants reserves need bytes. The channel receives the result.
func (h *memoryBudget) wants(held *int64, need int64) <-chan error {
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
		h := newHolding(100 << 10)
		var first, second int64
		if !h.try(&first, 60<<10) || h.try(&second, 60<<10) {
			t.Fatal("not one of two was let in")
		}
		got := h.wants(&second, 60<<10)
		if !isPending(got) {
			t.Fatal("there was no room")
		}
		h.try(&first, 0)
		if err := <-got; err != nil || second != 60<<10 || h.used != 60<<10 {
			t.Errorf("%v, %d held of %d", err, second, h.used)
		}
	})
}

func TestReservationFailsAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolding(100 << 10)
		var first, second int64
		h.try(&first, 60<<10)
		if err := h.wait(t.Context(), &second, 60<<10); !errors.Is(err, errMemoryBudget) || second != 0 {
			t.Errorf("%v, %d held", err, second)
		}
		h.try(&first, 0)
		if h.used != 0 || h.busy != 0 || len(h.queue) != 0 {
			t.Errorf("left behind: %d used, %d busy, %d waiting", h.used, h.busy, len(h.queue))
		}
	})
}

// TestAllThatWaitForMoreDoNotWaitForEachOther uses holders that together hold the whole budget and each need more.
func TestAllThatWaitForMoreDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolding(100 << 10)
		var first, second, stranger int64
		h.try(&first, 50<<10)
		h.try(&second, 50<<10)
		waits := h.wants(&first, 60<<10)
		comes := h.wants(&stranger, 10<<10)
		if !isPending(waits) || !isPending(comes) {
			t.Fatal("there was no room")
		}
		if !h.try(&second, 60<<10) {
			t.Fatal("all wait for each other")
		}
		if !isPending(waits) || !isPending(comes) {
			t.Fatal("more than one was let in above the budget")
		}
		h.try(&second, 0)
		if err := errors.Join(<-waits, <-comes); err != nil {
			t.Error(err)
		}
	})
}

func TestLargeMessagesDoNotBlockSmallOnes(t *testing.T) {
	s := newBodyBudget(16<<20, time.Nanosecond)
	never := func() {}
	n := 0
	for n < 100 && s.reserve(t.Context(), new(reservation), 1<<20, never) == nil {
		n++
	}
	var usual reservation
	if err := s.reserve(t.Context(), &usual, 40<<10, never); err != nil || n != 12 {
		t.Errorf("%d large messages were let in, then %v", n, err)
	}
	if err := s.reserve(t.Context(), &usual, 1<<20, never); !errors.Is(err, errMemoryBudget) || usual.usual != 40<<10 {
		t.Errorf("%v, and %v is held", err, usual)
	}
}

func TestOneMessageMayExceedTheBudget(t *testing.T) {
	h := newHolding(1 << 20)
	var one int64
	if !h.try(&one, 16<<20) {
		t.Error("it would wait for ever")
	}
}

// TestHeldMemoryIsAtMostTheBudgetAndOneMessage uses many holders that grow, give up and release memory at random.
func TestHeldMemoryIsAtMostTheBudgetAndOneMessage(t *testing.T) {
	const most, message = 1 << 20, 512 << 10
	synctest.Test(t, func(t *testing.T) {
		h := newHolding(most)
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
