package httpguard

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestReservationWaitsUntilMemoryIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Budget{Limit: 100 << 10, Timeout: 30 * time.Second, Small: SmallMessage}
		var first, second, small int64
		if err := h.Reserve(t.Context(), &first, 60<<10); err != nil {
			t.Fatal(err)
		}
		if err := h.Reserve(t.Context(), &second, 60<<10); !errors.Is(err, ErrBudget) || second != 0 {
			t.Errorf("%v, %d held", err, second)
		}
		time.AfterFunc(time.Second, func() { h.Release(&first) })
		if err := h.Reserve(t.Context(), &second, 60<<10); err != nil || second != 60<<10 {
			t.Errorf("%v, %d held", err, second)
		}
		if err := h.Reserve(t.Context(), &small, SmallMessage); err != nil || small != 0 {
			t.Errorf("%v, %d held", err, small)
		}
		h.Release(&second)
		if err := h.Reserve(t.Context(), &first, 16<<20); err != nil || first != h.Limit {
			t.Errorf("a message larger than the budget: %v, %d held", err, first)
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
	if err := s.Reserve(t.Context(), &usual, 40<<10, never); err != nil || n != 4 {
		t.Errorf("%d large messages were admitted, then %v", n, err)
	}
	if err := s.Reserve(t.Context(), &usual, 1<<20, never); !errors.Is(err, ErrBudget) || usual[0] != 40<<10 {
		t.Errorf("%v, and %v is held", err, usual)
	}
}
