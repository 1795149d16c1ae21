package truncate_test

import (
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/truncate"
)

func TestTextKeepsTheBoundAndWholeCharacters(t *testing.T) {
	t.Parallel()
	const text = "aé€😀z"
	for limit := range len(text) + 2 {
		got := truncate.Text(text, limit)
		if len(got) > limit || !utf8.ValidString(got) || limit >= len(text) && got != text {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	if got := truncate.Text(text, 7); got != "aé…" {
		t.Errorf("got %q", got)
	}
}

func TestBorderIsNeverInsideACharacter(t *testing.T) {
	t.Parallel()
	for n, want := range []int{0, 1, 1, 3, 3, 3, 6, 6} {
		if got := truncate.Border([]byte("aé€"), n); got != want {
			t.Errorf("Border(%d) = %d, want %d", n, got, want)
		}
	}
}
