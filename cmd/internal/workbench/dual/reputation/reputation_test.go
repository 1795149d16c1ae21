package reputation

import (
	"slices"
	"testing"
)

func TestScoreFollowsFromOutcomes(t *testing.T) {
	for _, row := range []struct {
		counts map[Kind]int
		want   float64
	}{
		{nil, 0.5},
		{map[Kind]int{TaskDone: 1}, 0.6667},
		{map[Kind]int{TaskDone: 8}, 0.9},
		{map[Kind]int{Equivocation: 1}, 0.1429},
		{map[Kind]int{TaskDone: 2, TaskCancelled: 2}, 0.6},
	} {
		if got := Of("a", row.counts); got.Value != row.want {
			t.Errorf("%v: %v, want %v", row.counts, got.Value, row.want)
		}
	}
	for _, k := range Kinds() {
		if k.Weight() == 0 {
			t.Errorf("%s has no weight", k)
		}
	}
}

func TestGates(t *testing.T) {
	passed := func(counts map[Kind]int) (names []string) {
		s := Of("a", counts)
		for _, g := range Gates() {
			if standing := s.Check(g); standing.Passed {
				names = append(names, g.Name)
			} else if len(standing.Lacks) == 0 {
				t.Errorf("%s is not passed, and nothing is missing", g.Name)
			}
		}
		return names
	}
	for _, row := range []struct {
		counts map[Kind]int
		want   []string
	}{
		{nil, []string{"contribute"}},
		{map[Kind]int{TaskDone: 3}, []string{"contribute", "review"}},
		{map[Kind]int{TaskDone: 10}, []string{"contribute", "review", "arbitrate"}},
		{map[Kind]int{TaskDone: 100, Equivocation: 1}, []string{"contribute", "review"}},
		{map[Kind]int{Equivocation: 1}, nil},
	} {
		if got := passed(row.counts); !slices.Equal(got, row.want) {
			t.Errorf("%v: %v, want %v", row.counts, got, row.want)
		}
	}
}
