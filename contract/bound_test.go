package contract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/contract"
)

func TestBoundIsIdempotentAndOnRuneBorders(t *testing.T) {
	text := strings.Repeat("пароль=hunter2 語😀 ", 200)
	for limit := range 300 {
		got := contract.Bound(text, limit)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Fatalf("limit %d gives %d bytes: %q", limit, len(got), got)
		}
		if again := contract.Bound(got, limit); again != got {
			t.Fatalf("limit %d: %q became %q", limit, got, again)
		}
	}
}
