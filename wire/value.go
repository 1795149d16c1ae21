package wire

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// Type is the JSON type of a [Value].
type Type uint8

// The types. TypeAbsent is that of the zero Value: nothing was there.
const (
	TypeAbsent Type = iota
	TypeNull
	TypeBool
	TypeNumber
	TypeString
	TypeArray
	TypeObject
)

// String returns the name JSON Schema uses, or "absent".
func (t Type) String() string {
	switch t {
	case TypeNull:
		return "null"
	case TypeBool:
		return "boolean"
	case TypeNumber:
		return "number"
	case TypeString:
		return "string"
	case TypeArray:
		return "array"
	case TypeObject:
		return "object"
	case TypeAbsent:
		return "absent"
	default:
		return "unknown"
	}
}

// Value is one JSON value as the bytes it was written in, without white space around it. It
// comes only from a scan that accepted it, so that reading it needs no error.
//
// A Value shares the memory of the bytes it was parsed from: it is good for as long as those are
// not changed. The zero Value is absent and every method of it answers "no". A Value may be read
// from many goroutines.
//
// A Value taken from a malformed [Message] is well-formed JSON too, except for the flaws the
// message names: a name may come twice (the first one is found) and strings may hold bytes that
// are not UTF-8.
type Value struct{ raw []byte }

// ParseValue checks that data is exactly one JSON text within the limits and returns it. It
// keeps data and changes nothing in it. The error is a [Malformation]. Any JSON is accepted,
// scalars and arrays too. One pass, linear time; no allocation unless an object is large.
func ParseValue(data []byte, lim Limits) (Value, error) {
	if len(data) > lim.maxBytes() {
		return Value{}, Malformation{Flaw: wireflaw.TooLarge, Offset: lim.maxBytes()}
	}
	var s scanner
	s.init(data, lim)
	root := s.text(s.begin(), nil)
	if bad := s.verdict(); bad.Flaw != wireflaw.None {
		return Value{}, bad
	}
	return Value{raw: root.in(data)}, nil
}

// Valid reports whether data is one JSON text within the limits: [ParseValue] without the value.
func Valid(data []byte, lim Limits) bool {
	_, err := ParseValue(data, lim)
	return err == nil
}

// Raw returns the bytes as they were written, nil for an absent value. The caller must not
// change them.
func (v Value) Raw() []byte { return v.raw }

// Present reports whether there is a value at all; null is one.
func (v Value) Present() bool { return len(v.raw) > 0 }

// Type returns the JSON type, in constant time.
func (v Value) Type() Type {
	if len(v.raw) == 0 {
		return TypeAbsent
	}
	switch v.raw[0] {
	case '{':
		return TypeObject
	case '[':
		return TypeArray
	case '"':
		return TypeString
	case 't', 'f':
		return TypeBool
	case 'n':
		return TypeNull
	default:
		return TypeNumber
	}
}

// IsNull reports whether the value is null. An absent one is not.
func (v Value) IsNull() bool { return v.Type() == TypeNull }

// Bool returns a boolean; ok is false for any other type.
func (v Value) Bool() (b, ok bool) {
	if v.Type() != TypeBool {
		return false, false
	}
	return v.raw[0] == 't', true
}

// Int64 returns a number that is written as an integer and fits. 1.0 and 1e3 are not written as
// integers: nothing is rounded here.
func (v Value) Int64() (n int64, ok bool) {
	if v.Type() != TypeNumber || len(v.raw) > 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.raw), 10, 64)
	return n, err == nil
}

// IsInteger reports whether the value is a number of any size written without fraction and exponent.
func (v Value) IsInteger() bool {
	return v.Type() == TypeNumber && !bytes.ContainsAny(v.raw, ".eE")
}

// Float64 returns a number as the nearest float64; ok is false if it is not a number or out of range.
func (v Value) Float64() (f float64, ok bool) {
	if v.Type() != TypeNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	return f, err == nil
}

// Get returns the member of that name. Names are compared unescaped. Anything but an object has no members. Linear in the bytes before the member.
func (v Value) Get(name string) (Value, bool) {
	if v.Type() != TypeObject {
		return Value{}, false
	}
	for i := 1; ; {
		m, next := memberAt(v.raw, i)
		if next == stop {
			return Value{}, false
		}
		if namedInside(m.name.inside(v.raw), name) {
			return Value{raw: m.value.in(v.raw)}, true
		}
		i = next
	}
}

// Index returns element i of an array, counted from 0.
func (v Value) Index(i int) (Value, bool) {
	if i >= 0 {
		for e := range v.Elements() {
			if i == 0 {
				return e, true
			}
			i--
		}
	}
	return Value{}, false
}

// Path follows names (string) and positions (int) from v: Path("content", 0, "text"). It returns
// the absent Value if a step leads nowhere or is of another type.
func (v Value) Path(steps ...any) Value {
	for _, step := range steps {
		switch at := step.(type) {
		case string:
			v, _ = v.Get(at)
		case int:
			v, _ = v.Index(at)
		default:
			return Value{}
		}
	}
	return v
}

// Members yields the members of an object in the order they are written; the name is a string
// Value, see [Value.Is]. It yields nothing for other types and does not allocate.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(name, value Value) bool) { v.eachMember(yield) }
}

// Elements yields the elements of an array in order. It yields nothing for other types and does
// not allocate.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) { v.eachElement(yield) }
}

// Len counts the members of an object or the elements of an array; it is 0 for other types.
func (v Value) Len() int {
	n := 0
	for range v.Members() {
		n++
	}
	for range v.Elements() {
		n++
	}
	return n
}

func (v Value) eachMember(yield func(name, value Value) bool) {
	if v.Type() != TypeObject {
		return
	}
	for i := 1; ; {
		m, next := memberAt(v.raw, i)
		if next == stop || !yield(Value{m.name.in(v.raw)}, Value{m.value.in(v.raw)}) {
			return
		}
		i = next
	}
}

func (v Value) eachElement(yield func(Value) bool) {
	if v.Type() != TypeArray {
		return
	}
	for i := 1; ; {
		e, next := elementAt(v.raw, i)
		if next == stop || !yield(Value{e.in(v.raw)}) {
			return
		}
		i = next
	}
}
