package failures

import (
	"bytes"

	"github.com/candor-mcp/candor/wire"
)

// eachMember calls visit with the members of a JSON object, each as it is written. It checks only as much of the syntax
// as it needs to find them, because the hash of a line shows that a ledger wrote it, and reports whether it came to the
// end of the object. wire does the same with all checks and takes ten times as long.
func eachMember(object []byte, visit func(name, value []byte)) bool {
	if len(object) < 2 || object[0] != '{' {
		return false
	}
	for at := 1; at < len(object); {
		if object[at] == '}' {
			return at == len(object)-1
		}
		if object[at] == ',' {
			at++
		}
		end := valueEnd(object, at)
		if end < 0 || object[at] != '"' || end >= len(object) || object[end] != ':' {
			return false
		}
		name, begin := object[at:end], end+1
		if at = valueEnd(object, begin); at < 0 {
			return false
		}
		visit(name, object[begin:at])
	}
	return false
}

// valueEnd returns the end of the value that begins at an offset, or -1 if there is none.
func valueEnd(b []byte, at int) int {
	if at >= len(b) {
		return -1
	}
	switch b[at] {
	case '"':
		return stringEnd(b, at)
	case '{', '[':
		return containerEnd(b, at)
	}
	end := at
	for end < len(b) && b[end] != ',' && b[end] != '}' && b[end] != ']' {
		end++
	}
	if end == at || end == len(b) {
		return -1
	}
	return end
}

// stringEnd returns the offset after the quote that ends a string.
func stringEnd(b []byte, at int) int {
	for end := at + 1; ; end++ {
		i := bytes.IndexByte(b[end:], '"')
		if i < 0 {
			return -1
		}
		end += i
		escapes := 0
		for b[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
	}
}

func containerEnd(b []byte, at int) int {
	depth := 0
	for at < len(b) {
		switch b[at] {
		case '"':
			if at = stringEnd(b, at); at < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
	return -1
}

// unquote returns the text of a string as it is written, or nothing if it is not a string. Without escapes it shares
// the memory of the value.
func unquote(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	if inside := value[1 : len(value)-1]; bytes.IndexByte(inside, '\\') < 0 {
		return inside
	}
	v, err := wire.ParseValue(value, limits)
	if err != nil {
		return nil
	}
	text, _ := v.StrBytes()
	return text
}
