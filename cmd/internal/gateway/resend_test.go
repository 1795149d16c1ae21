package gateway

import "testing"

func TestRecentDropsTheOldest(t *testing.T) {
	r := NewRecent[string, int](3)
	for i, key := range []string{"1", "2", "3", "4", "4"} {
		r.Put(key, i)
	}
	_, first := r.Get("1")
	_, second := r.Get("2")
	last, _ := r.Get("4")
	if first || !second || last != 4 || !r.Delete("4") || r.Delete("4") || len(r.values) > 3 {
		t.Errorf("%+v", r)
	}
}
