package redact

import (
	"slices"
	"testing"
)

func TestASecretHasASpellingForEachEncoder(t *testing.T) {
	want := []string{`a/b&c"d`, `a/b&c\"d`, `a\/b&c\"d`, `a/b\u0026c\"d`, "a%2Fb%26c%22d", "a%2Fb&c%22d"}
	if got := Spellings(`a/b&c"d`); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Spellings("plain"); !slices.Equal(got, []string{"plain"}) {
		t.Errorf("what every encoder writes alike is there more than once: %q", got)
	}
}
