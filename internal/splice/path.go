package splice

import (
	"strconv"

	"github.com/candor-mcp/candor/wire"
)

// location is a value and where it begins in the root.
type location struct {
	value wire.Value
	begin int
}

// follow takes as many steps of the path as exist. It returns the last value reached and the number of steps. A step into a
// scalar or to a missing position is [ErrNoPath].
func follow(root wire.Value, path []string) (at location, known int, err error) {
	at = location{value: root}
	for known, step := range path {
		next, found, err := stepInto(at.value, step)
		if err != nil {
			return location{}, 0, err
		}
		if !found {
			return at, known, nil
		}
		at = location{next.value, at.begin + next.begin}
	}
	return at, len(path), nil
}

// stepInto returns the value that a step leads to, with its offset in v. found is false if v is an object without that name.
func stepInto(v wire.Value, step string) (next location, found bool, err error) {
	switch v.Type() {
	case wire.TypeObject:
		m, found, err := findMember(v, step)
		return location{m.value, m.valueBegin}, found, err
	case wire.TypeArray:
		next, err = element(v, step)
		return next, err == nil, err
	case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber, wire.TypeString:
	}
	return location{}, false, ErrNoPath
}

// element returns the element at the decimal position step.
func element(array wire.Value, step string) (location, error) {
	n, err := strconv.ParseUint(step, 10, 31)
	if err != nil {
		return location{}, ErrNoPath
	}
	raw, end := array.Raw(), 1
	for e := range array.Elements() {
		begin := skip(raw, end)
		if n == 0 {
			return location{e, begin}, nil
		}
		end = begin + len(e.Raw())
		n--
	}
	return location{}, ErrNoPath
}

// member is a member of an object with its offsets in it.
type member struct {
	value       wire.Value
	begin       int // of the name
	valueBegin  int
	end         int
	previousEnd int // end of the member before it, 1 if it is the first
	next        int // begin of the member after it, 0 if it is the last
}

// findMember returns the one member of that name.
func findMember(object wire.Value, name string) (m member, found bool, err error) {
	raw, end := object.Raw(), 1
	for key, value := range object.Members() {
		begin := skip(raw, end)
		valueBegin := skip(raw, begin+len(key.Raw()))
		if found && m.next == 0 {
			m.next = begin
		}
		previousEnd := end
		end = valueBegin + len(value.Raw())
		if !key.Is(name) {
			continue
		}
		if found {
			return member{}, false, ErrAmbiguous
		}
		m, found = member{value: value, begin: begin, valueBegin: valueBegin, end: end, previousEnd: previousEnd}, true
	}
	return m, found, nil
}

// lastMember returns the offset behind the last member of an object, or 1 for an empty object.
func lastMember(object wire.Value) (end int, some bool) {
	raw, end := object.Raw(), 1
	for key, value := range object.Members() {
		end = skip(raw, skip(raw, end)+len(key.Raw())) + len(value.Raw())
		some = true
	}
	return end, some
}

// skip returns the index of the next byte except white space, commas and colons.
func skip(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
	return i
}
