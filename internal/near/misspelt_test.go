package near

import (
	"strings"
	"testing"
)

func TestMisspeltAsksForASlip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, known string
		want        bool
	}{
		{"limt", "limit", true},
		{"qeury", "query", true},
		{"maxResults", "max_results", true},
		{"Limit", "limit", true},
		{"repositry_naem", "repository_name", true},
		{"paths", "path", true},
		{"line2", "line1", false},
		{"limit2", "limit", false},
		{"id", "ids", false},
		{"from_date", "to_date", false},
		{"start", "state", false},
		{"min", "max", false},
		{strings.Repeat("a", 1<<20), "a", false},
	} {
		if got := Misspelt(c.name, c.known); got != c.want {
			t.Errorf("Misspelt(%.20q, %q) = %v", c.name, c.known, got)
		}
	}
}
