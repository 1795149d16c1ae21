package tasks

import (
	"errors"
	"slices"
	"testing"
)

// legal is the state machine as a table, written out so that it does not depend on the code that it checks.
var legal = map[Status][]Status{
	Init: {Gather, Cancelled}, Gather: {Analyze, Cancelled}, Analyze: {Plan, Cancelled}, Plan: {Apply, Cancelled},
	Apply: {Verify, Cancelled}, Verify: {Done, Cancelled}, Done: nil, Cancelled: nil,
}

// TestTransitionsOfAllPairs checks all 64 pairs.
func TestTransitionsOfAllPairs(t *testing.T) {
	pairs, allowed := 0, 0
	for _, from := range Statuses() {
		for _, to := range Statuses() {
			pairs++
			err := CheckTransition(from, to)
			if slices.Contains(legal[from], to) {
				allowed++
				if err != nil {
					t.Errorf("%s to %s: %v", from, to, err)
				}
				continue
			}
			var refused *TransitionError
			if !errors.As(err, &refused) || refused.From != from || refused.To != to || !slices.Equal(refused.Allowed, legal[from]) || refused.Allowed == nil {
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
	if pairs != 64 || allowed != 12 {
		t.Errorf("%d pairs, %d of them allowed", pairs, allowed)
	}
}

func TestCheckNamesTheFields(t *testing.T) {
	task := Task{Title: " \t", DependsOn: []string{"a", "a", "b"}, ParentID: "b", Context: make([]byte, MaxContext+1)}
	var fields []string
	for _, f := range task.Check() {
		fields = append(fields, f.Field)
	}
	if want := []string{"title", "depends_on", "depends_on", "context"}; !slices.Equal(fields, want) {
		t.Errorf("got %v, want %v", fields, want)
	}
	if wrong := (&Task{Title: "fix it", DependsOn: []string{"a"}, ParentID: "b"}).Check(); wrong != nil {
		t.Error(wrong)
	}
}
