package python

import "testing"

// TestAnswerDoesNotWaitForTheRemoval has a removal whose duration the test controls.
func TestAnswerDoesNotWaitForTheRemoval(t *testing.T) {
	t.Parallel()
	r := &runner{slots: make(chan struct{}, 1), waiting: make(chan struct{}, 1)}
	release, err := r.admit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	removing, removed := make(chan struct{}), make(chan struct{})
	r.discard(func() { <-removing }, release)
	if len(r.slots) != 1 {
		t.Error("the next run may begin before the folder is removed")
	}
	go func() {
		r.removals.Wait()
		close(removed)
	}()
	select {
	case <-removed:
		t.Error("closing does not wait for the removal")
	default:
	}
	close(removing)
	<-removed
	if len(r.slots) != 0 {
		t.Error("the slot is not released")
	}
}
