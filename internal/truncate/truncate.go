// Package truncate cuts texts to a number of bytes without splitting a character.
package truncate

import "unicode/utf8"

// Mark is the end of a text that was cut by [Text].
const Mark = "…"

// Border returns the largest index of s that is at most n and not inside a UTF-8 sequence.
func Border[T string | []byte](s T, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return max(n, 0)
}

// Text returns s if it has at most limit bytes, else a prefix of it with [Mark], together at most limit bytes. It returns "" if limit is too
// small for the mark.
func Text(s string, limit int) string { return WithMark(s, limit, Mark) }

// WithMark is [Text] with another mark.
func WithMark(s string, limit int, mark string) string {
	switch {
	case len(s) <= limit:
		return s
	case limit < len(mark):
		return ""
	}
	return s[:Border(s, limit-len(mark))] + mark
}
