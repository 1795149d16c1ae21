package jsontext

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the number of values that may be nested inside each other.
const MaxDepth = 128

// ErrTooDeep is the error for a value that is nested deeper than [MaxDepth], or contains itself.
var ErrTooDeep = errors.New("value is nested too deep")

// AppendCanonical appends the canonical JSON text of v to dst: RFC 8785, with one difference: integers that a float64 cannot hold keep
// their digits. Invalid UTF-8 becomes U+FFFD.
//
// The error describes the part of v that is not JSON.
func AppendCanonical(dst []byte, v any) ([]byte, error) { return appendValue(dst, v, 0) }

func appendValue(dst []byte, v any, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return dst, ErrTooDeep
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return appendCanonicalString(dst, v), nil
	case []any:
		return appendArray(dst, v, depth)
	case map[string]any:
		return appendObject(dst, v, depth)
	default:
		text, ok := number(v)
		if !ok {
			return dst, fmt.Errorf("a value of type %T is not JSON, or its number is out of range", v)
		}
		return append(dst, text...), nil
	}
}

func appendArray(dst []byte, list []any, depth int) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendValue(dst, v, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, object map[string]any, depth int) (_ []byte, err error) {
	dst = append(dst, '{')
	for i, key := range slices.SortedFunc(maps.Keys(object), compareUTF16) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendCanonicalString(dst, key), ':')
		if dst, err = appendValue(dst, object[key], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendCanonicalString writes a string with the escapes of RFC 8785, which are the fewest that JSON allows.
func appendCanonicalString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= ' ':
			dst = utf8.AppendRune(dst, r)
		case strings.ContainsRune("\b\t\n\f\r", r):
			dst = append(dst, '\\', "btn-fr"[r-'\b'])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		}
	}
	return append(dst, '"')
}

// compareUTF16 orders strings by their UTF-16 code units, as RFC 8785 asks for.
func compareUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}
