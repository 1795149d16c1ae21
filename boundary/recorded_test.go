package boundary

import (
	"strconv"
	"testing"
)

// TestLateFailuresAreBounded checks that a key can be taken as often as it was added, and that keys that are never taken are
// discarded.
func TestLateFailuresAreBounded(t *testing.T) {
	t.Parallel()
	s := &lateSet{}
	for i := range 2*maxLate + 10 {
		s.add(`data:{"uri":"file:///missing"}`)
		if !s.take(`data:{"uri":"file:///missing"}`) {
			t.Fatalf("number %d was forgotten before it left", i)
		}
	}
	s.add("first")
	for i := range 3 * maxLate {
		s.add(strconv.Itoa(i))
	}
	if s.take("first") {
		t.Error("the first is still remembered")
	}
	if n := len(s.now) + len(s.old); n > 2*maxLate {
		t.Errorf("%d are remembered", n)
	}
}
