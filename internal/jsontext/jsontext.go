// Package jsontext writes JSON strings, decodes JSON strictly, and compares and writes decoded values. All packages escape text with
// it, so that an envelope has the same bytes whichever package writes it.
//
// A decoded value is a map[string]any, []any, string, bool, nil or number: a [json.Number] or one of float64, int, int64 and uint64.
// Any other Go type is not a JSON value. Numbers are compared and written as float64, and integers exactly.
package jsontext

import "unicode/utf8"

const hex = "0123456789abcdef"

// plain marks the ASCII bytes that need no escape inside a JSON string.
var plain = func() (t [utf8.RuneSelf]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// AppendString appends s to dst as a JSON string. Quotes, backslashes and control characters are
// escaped, U+2028 and U+2029 too, which end a line in older JavaScript; invalid UTF-8
// becomes U+FFFD. HTML characters are not escaped. The bytes are those that
// encoding/json writes with SetEscapeHTML(false).
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := plainRun(s, 0); i < len(s); i = plainRun(s, i) {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = appendEscaped(append(dst, s[from:i]...), c)
			i++
			from = i
			continue
		}
		r, size := decodeRune(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, s[from:i]...), `\ufffd`...)
			from = i + size
		case r == '\u2028' || r == '\u2029':
			dst = append(append(dst, s[from:i]...), `\u202`...)
			dst = append(dst, hex[r&0xf])
			from = i + size
		}
		i += size
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// plainRun returns the end of the plain bytes from i on. It tests eight at a time, because most text is plain.
func plainRun[T ~string | ~[]byte](s T, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		if odd(x) {
			break
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf && plain[s[i]] {
		i++
	}
	return i
}

// odd reports whether one of eight bytes is a control character, a quote, a backslash or above ASCII. x^2 swaps the quote with the
// space, so that one subtraction finds both it and all below 0x20.
func odd(x uint64) bool {
	const ones = 0x0101010101010101
	return (((x^2*ones)-'!'*ones)|((x^'\\'*ones)-ones)|x)&(0x80*ones) != 0
}

func decodeRune[T ~string | ~[]byte](s T) (rune, int) {
	return utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
}

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	default:
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
	}
}

// EncodedLen returns the number of bytes [AppendString] adds for s.
func EncodedLen(s string) int {
	n := 2
	var one [16]byte
	for i := 0; i < len(s); {
		end := plainRun(s, i)
		n, i = n+end-i, end
		if i < len(s) {
			_, size := decodeRune(s[i:])
			n += len(AppendString(one[:0], s[i:i+size])) - 2
			i += size
		}
	}
	return n
}
