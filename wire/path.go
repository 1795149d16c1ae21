package wire

import "strconv"

// follow walks as many steps of the path as exist. It returns the place of the last value
// reached and how many steps led there. A step into a scalar or to a missing position is
// ErrNoPath.
func follow(raw []byte, path []string) (at span, known int, err error) {
	at = spanOf(0, len(raw))
	for known, step := range path {
		within := Value{at.in(raw)}
		next, err := stepInto(within, step)
		if err != nil {
			return span{}, 0, err
		}
		if next.empty() {
			return at, known, nil
		}
		at = span{at.begin + next.begin, at.begin + next.end}
	}
	return at, len(path), nil
}

// stepInto returns the place of a step inside v; empty if v is an object without that name.
func stepInto(v Value, step string) (span, error) {
	switch v.Type() {
	case TypeObject:
		m, _, err := findMember(v.raw, step)
		return m.value, err
	case TypeArray:
		return position(v.raw, step)
	case TypeAbsent, TypeNull, TypeBool, TypeNumber, TypeString:
	}
	return span{}, ErrNoPath
}

func position(array []byte, step string) (span, error) {
	n, err := strconv.ParseUint(step, 10, 31)
	for i := 1; err == nil; n-- {
		e, next := elementAt(array, i)
		if next == stop {
			break
		}
		if n == 0 {
			return e, nil
		}
		i = next
	}
	return span{}, ErrNoPath
}

// findMember returns the one member of that name, empty if there is none, and the index behind
// the member before it, 1 if it is the first.
func findMember(object []byte, name string) (found member, before int, err error) {
	for i := 1; ; {
		m, next := memberAt(object, i)
		if next == stop {
			return found, before, nil
		}
		if namedInside(m.name.inside(object), name) {
			if !found.name.empty() {
				return member{}, 0, ErrAmbiguous
			}
			found, before = m, i
		}
		i = next
	}
}

// lastMember returns the index behind the last member of an object, 1 if it has none.
func lastMember(object []byte) (end int, some bool) {
	for end = 1; ; some = true {
		_, next := memberAt(object, end)
		if next == stop {
			return end, some
		}
		end = next
	}
}
