package wire

// The functions below walk over values that a scan has accepted, without checks. Other bytes would give
// wrong positions, but not panics.

// elementAt returns the element at or after i, which is the index after an opening bracket or after
// the previous element, and the index after it. next is stop at the end.
func elementAt(b []byte, i int) (e span, next int) {
	i = gap(b, i)
	if i >= len(b) || b[i] == ']' || b[i] == '}' {
		return span{}, stop
	}
	end := valueEnd(b, i)
	return spanOf(i, end), end
}

// memberAt is elementAt for the members of an object.
func memberAt(b []byte, i int) (m member, next int) {
	i = gap(b, i)
	if i >= len(b) || b[i] != '"' {
		return member{}, stop
	}
	nameEnd := stringEnd(b, i)
	begin := gap(b, nameEnd)
	end := valueEnd(b, begin)
	if end-begin < 1 {
		return member{}, stop
	}
	return member{spanOf(i, nameEnd), spanOf(begin, end)}, end
}

// gap skips white space and the comma or colon in it.
func gap(b []byte, i int) int {
	for i < len(b) && (isSpace(b[i]) || b[i] == ',' || b[i] == ':') {
		i++
	}
	return i
}

// valueEnd returns the index after the value that begins at i.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return containerEnd(b, i)
	default:
		return scalarEnd(b, i)
	}
}

func scalarEnd(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\n', '\r', '\t':
			return i
		}
		i++
	}
	return i
}

func containerEnd(b []byte, i int) int {
	for level := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			level++
		case '}', ']':
			if level--; level == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}
