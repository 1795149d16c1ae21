package candor

import (
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/redact"
)

// Bounds of an error, in bytes of UTF-8. Longer text is cut on a rune border and ends in "…",
// which counts. A whole envelope of one error stays below 32 KiB in every dialect.
const (
	MaxMessage    = 1024
	MaxSuggestion = 512
	MaxCause      = 1024
	MaxDetails    = 8192 // encoded JSON
	MaxDepth      = 16   // of details
	MaxItems      = 100  // of an array or object in details
	MaxText       = 1024 // one string in details
	MaxKey        = 128  // one member name in details
	MaxContext    = 256  // tool, role, session and the like
	MaxStack      = 8192
)

// cutMark ends a text that was cut. It has no other meaning: the same mark in user data is data.
const cutMark = "…"

// publicText is the single door through which text enters an error: redacted, then bounded.
// Cutting can uncover something new to redact (a name that lost its harmless ending), hence the loop;
// each round only removes, so it ends.
func publicText(s string, limit int) string {
	s = redact.Text(s)
	for range 4 {
		cut := cutText(s, limit)
		s = redact.Text(cut)
		if s == cut {
			return s
		}
	}
	return cutText(s, limit)
}

// label cleans a short identifier: control characters go, secrets and paths are not looked for.
func label(s string) string { return cutText(redact.Chars(s), MaxContext) }

// cutText bounds s to limit bytes on a rune border.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit - len(cutMark)
	if end < 0 {
		return ""
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + cutMark
}
