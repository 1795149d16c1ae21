package jsonvalue

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

// Append appends the canonical JSON text of v to dst: RFC 8785, with one difference. A number with more digits than a
// float64 can hold keeps them all, so that equal texts always mean equal values. Invalid UTF-8 becomes U+FFFD.
//
// The error describes the part of v that is not JSON.
func Append(dst []byte, v any) ([]byte, error) { return appendValue(dst, v, 0) }

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
		return appendString(dst, v), nil
	case []any:
		return appendArray(dst, v, depth)
	case map[string]any:
		return appendObject(dst, v, depth)
	default:
		d, ok := number(v)
		if !ok {
			return dst, fmt.Errorf("a value of type %T is not JSON, or its number is out of range", v)
		}
		return d.append(dst), nil
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
		dst = append(appendString(dst, key), ':')
		if dst, err = appendValue(dst, object[key], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// append writes the number in the layout of ECMAScript, which RFC 8785 asks for.
func (d decimal) append(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	count, point := len(d.digits), d.point
	switch {
	case count <= point && point <= 21:
		return append(append(dst, d.digits...), strings.Repeat("0", point-count)...)
	case 0 < point && point <= 21:
		return append(append(append(dst, d.digits[:point]...), '.'), d.digits[point:]...)
	case -6 < point && point <= 0:
		return append(append(append(dst, "0."...), strings.Repeat("0", -point)...), d.digits...)
	}
	dst = append(dst, d.digits[0])
	if count > 1 {
		dst = append(append(dst, '.'), d.digits[1:]...)
	}
	dst = append(dst, 'e')
	if point > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(point-1), 10)
}

// appendString writes a string with the escapes of RFC 8785, which are the fewest that JSON allows.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
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
