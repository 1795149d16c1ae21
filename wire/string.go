package wire

import (
	"bytes"
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

// Str returns the unescaped text of a string value; ok is false for any other type.
func (v Value) Str() (text string, ok bool) {
	b, ok := v.StrBytes()
	return string(b), ok
}

// appendStr appends the unescaped text of a string value to dst; ok is false, and dst unchanged, for any other type.
func (v Value) appendStr(dst []byte) (out []byte, ok bool) {
	if v.Type() != TypeString {
		return dst, false
	}
	return unescape(dst, unquoted(v.raw)), true
}

// Is reports whether the value is a string with this unescaped text. It does not allocate.
func (v Value) Is(text string) bool {
	return v.Type() == TypeString && namedInside(unquoted(v.raw), text)
}

// namedInside reports whether the inside of a string unescapes to text. Written without
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
