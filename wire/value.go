package wire

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// Type is the JSON type of a [Value].
type Type uint8

// The types. TypeAbsent is the type of the zero Value.
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
	names := [...]string{"absent", "null", "boolean", "number", "string", "array", "object"}
	if int(t) < len(names) {
		return names[t]
	}
	return "unknown"
}

// Value is one JSON value as it was written, without white space around it. A scan has accepted it,
// so reading it cannot fail.
//
// A Value shares the memory of the bytes it was parsed from: it is valid as long as those do not
// change. The zero Value is absent; its methods return zero values. A Value may be read
// from many goroutines.
//
// A Value taken from a malformed [Message] is well-formed JSON too, except for the flaws the
// message names: a name may occur twice ([Value.Get] finds the first) and strings may hold bytes that
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

// Raw returns the bytes as they were written, nil for an absent value. The caller must not
// change them.
func (v Value) Raw() []byte { return v.raw }

// Present reports whether the value exists. Null does.
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

// Get returns the member of that name. Names are compared unescaped. It returns the absent Value for other types. It takes linear time in the bytes before the member.
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

// index returns element i of an array, counted from 0.
func (v Value) index(i int) (Value, bool) {
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
// the absent Value if a step does not exist.
func (v Value) Path(steps ...any) Value {
	for _, step := range steps {
		switch at := step.(type) {
		case string:
			v, _ = v.Get(at)
		case int:
			v, _ = v.index(at)
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
