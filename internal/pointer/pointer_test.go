package pointer_test

import (
	"slices"
	"testing"

	"github.com/candor-mcp/candor/internal/pointer"
)

// TestAPointerLeadsBackToItsSteps has the examples of RFC 6901, and the two escapes that are easily confused.
func TestAPointerLeadsBackToItsSteps(t *testing.T) {
	t.Parallel()
	for want, steps := range map[string][]string{
		"":            nil,
		"/":           {""},
		"/foo/0":      {"foo", "0"},
		"/a~1b/m~0n":  {"a/b", "m~n"},
		"/~01":        {"~1"},
		"/~10":        {"/0"},
		"/a//b/":      {"a", "", "b", ""},
		"/ /c%d/\"/é": {" ", "c%d", "\"", "é"},
	} {
		if got := pointer.Of(steps...); got != want {
			t.Errorf("%q became %q, wanted %q", steps, got, want)
		}
		if got := slices.Collect(pointer.Steps(want)); !slices.Equal(got, steps) {
			t.Errorf("%q was read as %q, wanted %q", want, got, steps)
		}
	}
}

// TestWhatIsNoPointerIsReadAllTheSame reads a text without the leading slash, which Of never writes.
func TestWhatIsNoPointerIsReadAllTheSame(t *testing.T) {
	t.Parallel()
	if got := slices.Collect(pointer.Steps("a/b")); !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %q", got)
	}
}
