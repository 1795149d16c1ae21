package boundary

import "testing"

// A client that asks for the same missing resource again and again gets the same error each time.
func TestASettledKeyThatComesAgainIsStillSettled(t *testing.T) {
	s := &settledSet{}
	for i := range 2*maxSettled + 10 {
		s.add("data:{\"uri\":\"file:///missing\"}")
		if !s.take("data:{\"uri\":\"file:///missing\"}") {
			t.Fatalf("number %d was forgotten before it left", i)
		}
	}
}

func TestWhatNeverLeavesIsForgotten(t *testing.T) {
	s := &settledSet{}
	s.add("first")
	for i := range 3 * maxSettled {
		s.add(string(rune('a'+i%26)) + string(rune(i)))
	}
	if s.take("first") {
		t.Error("the first is still remembered")
	}
	if n := len(s.now) + len(s.old); n > 2*maxSettled {
		t.Errorf("%d are remembered", n)
	}
}
