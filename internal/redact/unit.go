package redact

import "strings"

// A unit is one logical byte of a text, plain or escaped once or more: \" \\\" \u0022 \x22
// %22 %2522 &quot; all represent a quote. Reading units lets one rule handle every nesting.

// escapes bounds the backslashes before one unit; eight is JSON nested in JSON three times.
const escapes = 8

var entities = map[string]byte{
	"&quot;": '"', "&#34;": '"', "&#x22;": '"', "&apos;": '\'', "&#39;": '\'', "&#x27;": '\'', "&#039;": '\'',
	"&amp;": '&', "&#38;": '&', "&lt;": '<', "&gt;": '>', "&#61;": '=', "&#x3D;": '=', "&#x3d;": '=', "&#58;": ':',
}

// unitAt returns the unit that begins at i and its length in bytes. A byte that does not begin an
// escape represents itself.
func unitAt(s string, i int) (c byte, n int) {
	switch s[i] {
	case '\\':
		return backslashed(s, i)
	case '%':
		if c, ok := hexPair(s, i+1); ok {
			if c == '%' {
				if d, ok := hexPair(s, i+3); ok {
					return d, 5
				}
			}
			return c, 3
		}
	case '&':
		if end := strings.IndexByte(s[i:min(len(s), i+7)], ';'); end > 0 {
			if c, ok := entities[s[i:i+end+1]]; ok {
				return c, end + 1
			}
		}
	}
	return s[i], 1
}

func backslashed(s string, i int) (byte, int) {
	j := i + 1
	for j < len(s) && s[j] == '\\' && j-i < escapes {
		j++
	}
	if j == len(s) {
		return '\\', 1
	}
	switch c := s[j]; c {
	case '"', '\'', '`', '/':
		return c, j - i + 1
	case 'n', 'r', 't':
		return ' ', j - i + 1
	case 'u':
		if strings.HasPrefix(s[j+1:], "00") {
			if c, ok := hexPair(s, j+3); ok {
				return c, j - i + 5
			}
		}
	case 'x':
		if c, ok := hexPair(s, j+1); ok {
			return c, j - i + 3
		}
	}
	return '\\', 1
}

// unitBefore returns the unit that ends at i and its first index. i must be positive.
func unitBefore(s string, i int) (c byte, start int) {
	c = s[i-1]
	for n := 2; n <= 6 && n <= i; n++ {
		if b := s[i-n]; b == '\\' || b == '%' || b == '&' {
			if u, size := unitAt(s, i-n); size == n {
				return u, backslashes(s, i-n)
			}
		}
	}
	return c, i - 1
}

// backslashes returns the first index of the run of backslashes that ends with the one at i.
func backslashes(s string, i int) int {
	for n := 0; s[i] == '\\' && i > 0 && s[i-1] == '\\' && n < escapes; n++ {
		i--
	}
	return i
}

func hexPair(s string, i int) (byte, bool) {
	if i+2 > len(s) {
		return 0, false
	}
	hi, ok1 := hexDigit(s[i])
	lo, ok2 := hexDigit(s[i+1])
	return hi<<4 | lo, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch c = lowerByte(c); {
	case digit.in(c):
		return c - '0', true
	case hexAlpha.in(c):
		return c - 'a' + 10, true
	}
	return 0, false
}
