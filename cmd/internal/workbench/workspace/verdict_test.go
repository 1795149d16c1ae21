package workspace

import (
	"context"
	"testing"
)

// TestWaitVerdictTouchesNothing checks that a change with the verdict Wait is not touched until another verdict is
// given.
func TestWaitVerdictTouchesNothing(t *testing.T) {
	for _, then := range []Verdict{Keep, Undo} {
		b := newBench(t, Options{})
		b.must(b.stage("waits", b.everything()...).Commit(context.Background()))
		for range 2 {
			if found := b.recover(Wait); len(found) != 1 || found[0].State != Waiting || b.side() != sideAfter {
				t.Fatalf("waiting: %+v, %s", found, b.side())
			}
		}
		want := map[Verdict]string{Keep: sideAfter, Undo: sideBefore}[then]
		if found := b.recover(then); len(found) != 1 || b.side() != want {
			t.Errorf("then: %+v, %s", found, b.side())
		}
	}
}
