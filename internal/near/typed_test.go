package near

import (
	"slices"
	"testing"
)

func TestABeginningOrAWordOfANameIsUnderstood(t *testing.T) {
	for _, c := range []struct {
		word  string
		known []string
		want  []string
	}{
		{"chekc", []string{"check", "config"}, []string{"check"}},
		{"exp", []string{"gateway", "explain", "export"}, []string{"explain", "export"}},
		{"GATEWAY", []string{"GATEWAY_DRAINING", "BAD_GATEWAY", "TIMEOUT"}, []string{"BAD_GATEWAY", "GATEWAY_DRAINING"}},
		{"timeou", []string{"TIMEOUT", "TIMEOUT", "TIMEOUT", "TIMEOUT_LOCK"}, []string{"TIMEOUT", "TIMEOUT_LOCK"}},
		{"rate", []string{"rate-a", "rate-b", "rate-c", "rate-d"}, []string{"rate-a", "rate-b", "rate-c"}},
		{"ex", []string{"explain"}, []string{}},
		{"xyzzy", []string{"explain"}, []string{}},
	} {
		if got := Typed(c.word, c.known); !slices.Equal(got, c.want) {
			t.Errorf("Typed(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}
