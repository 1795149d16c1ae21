package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/redact"
)

// The bytes of a value are limited, and the limit may be inside a character.
func TestLongValuesOfOtherScriptsStayText(t *testing.T) {
	for _, head := range []string{"<token>", "token: ", "password=", "the api key is ", "[redacted:", "--password "} {
		for pad := range 4 {
			for _, run := range []string{"é", "語", "😀"} {
				s := head + strings.Repeat("x", pad) + strings.Repeat(run, 400) + " is the end"
				once := redact.Text(s)
				if !utf8.ValidString(once) || strings.ContainsRune(once, utf8.RuneError) {
					t.Errorf("%q with %d before %q: not text any more: %.80q", head, pad, run, once)
				}
				if again := redact.Text(once); again != once {
					t.Errorf("%q with %d before %q: changes again", head, pad, run)
				}
			}
		}
	}
}
