package wire

import (
	"bytes"
	"unicode/utf8"
)

// StrBytes returns the characters of a string value. Without escapes they are a part of the
// parsed bytes, which the caller must not change; with escapes they are a new slice. ok is false
// for any other type.
func (v Value) StrBytes() (text []byte, ok bool) {
	if v.Type() != TypeString {
		return nil, false
	}
	in := unquoted(v.raw)
	if bytes.IndexByte(in, '\\') < 0 {
		return in, true
	}
	return unescape(make([]byte, 0, len(in)), in), true
}

// Str returns the characters of a string value as a string of its own; ok is false for any other
// type.
func (v Value) Str() (text string, ok bool) {
	b, ok := v.StrBytes()
	return string(b), ok
}

// AppendStr appends the characters of a string value to dst; ok is false, and dst unchanged, for
// any other type.
func (v Value) AppendStr(dst []byte) (out []byte, ok bool) {
	if v.Type() != TypeString {
		return dst, false
	}
	return unescape(dst, unquoted(v.raw)), true
}

// Is reports whether the value is a string that stands for text. It does not allocate.
func (v Value) Is(text string) bool {
	return v.Type() == TypeString && namedInside(unquoted(v.raw), text)
}

// namedInside compares the inside of a string with the text it may stand for. Written without
// escapes it is as long as the text, and with escapes longer.
func namedInside(in []byte, text string) bool {
	if len(in) == len(text) {
		return string(in) == text && bytes.IndexByte(in, '\\') < 0
	}
	if len(in) < len(text) || bytes.IndexByte(in, '\\') < 0 {
		return false
	}
	var space [128]byte
	return string(unescape(space[:0], in)) == text
}

// AppendString appends s to dst as a JSON string with its quotes. It escapes what JSON demands,
// and also U+2028 and U+2029, which end a line in older JavaScript; a byte that is not UTF-8
// becomes U+FFFD, written as the escape \ufffd. Nothing is escaped for HTML. It allocates only
// if dst is too small.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for begin := 0; ; {
		i := begin + plainPrefix(s[begin:])
		if i == len(s) {
			dst = append(dst, s[begin:]...)
			return append(dst, '"')
		}
		if s[i] < utf8.RuneSelf {
			dst = append(dst, s[begin:i]...)
			dst = appendEscape(dst, s[i])
			begin = i + 1
			continue
		}
		end, ok := runesEnd(s, i)
		dst = append(dst, s[begin:end]...)
		if begin = end; !ok {
			dst, begin = appendOdd(dst, s, end)
		}
	}
}

// plainPrefix returns how many bytes at the start of s need no look.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		if m := unplain(x); m != 0 {
			return i + first(m)
		}
	}
	for i < len(s) && isPlain(s[i]) {
		i++
	}
	return i
}

// runesEnd returns the end of the run of characters above ASCII that begins at i. ok is false if
// what stands at the end is no character, or one that must be escaped.
func runesEnd(s string, i int) (end int, ok bool) {
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			return i, false
		}
		i += size
	}
	return i, true
}

// appendOdd escapes the character at i for which runesEnd stopped.
func appendOdd(dst []byte, s string, i int) ([]byte, int) {
	r, size := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError {
		return append(dst, `\ufffd`...), i + size
	}
	return append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&0xf]), i + size
}

const hexDigits = "0123456789abcdef"

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	}
}
