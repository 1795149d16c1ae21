package failures

import (
	"bytes"
)

// needle is a text that is searched for. It rejects most lines before their messages are decoded, which takes several
// times as long as reading them.
type needle struct {
	lower []byte // nil if every message must be decoded
}

// needleOf returns the needle of a text in lower case. A text with characters that JSON may escape cannot be found in
// the encoded line.
func needleOf(lower string) needle {
	for i := range len(lower) {
		if c := lower[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '/' {
			return needle{}
		}
	}
	return needle{lower: []byte(lower)}
}

// The two characters outside ASCII whose lower case is in ASCII: the sign for Kelvin, and the capital I with a dot.
var (
	kelvin  = []byte("\u212a")
	dottedI = []byte("\u0130")
)

// mayBeIn reports whether the text may be in a text that the line has as JSON, or as JSON in JSON.
func (n needle) mayBeIn(line []byte) bool {
	return n.lower == nil || len(line) > maxFolded || containsFold(line, n.lower) || bytes.Contains(line, []byte(`\u`)) ||
		bytes.Contains(line, kelvin) || bytes.Contains(line, dottedI)
}

// maxFolded is the size of the lines that are searched as they are. Longer ones are decoded.
const maxFolded = 8 << 10

// containsFold reports whether b, of at most maxFolded bytes, has the text, which is in lower case, ignoring the case of
// ASCII.
func containsFold(b, lower []byte) bool {
	var space [maxFolded]byte
	folded := space[:len(b)]
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		folded[i] = c
	}
	return bytes.Contains(folded, lower)
}
