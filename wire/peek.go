package wire

import "bytes"

// peekSize is how many bytes are read of a message that is too large, to find its id.
const peekSize = 4096

// PeekID finds the id of a message of which only the first and the last bytes are known, so that
// one that was too large can be answered. It looks for a top-level id in the head, then for one
// that is the very last member in the tail. It returns nil if there is neither. Either slice may
// be nil; the id shares their memory.
//
// The answer is right if the message is well-formed and has one id. If it is not, the id may be
// a wrong one: use it to give up a call early, not to deliver anything.
func PeekID(head, tail []byte) ID {
	m := Parse(head[:min(len(head), peekSize)], Limits{})
	if id := m.ID(); id != nil {
		return id
	}
	return lastID(tail)
}

// lastID reads `"id":token}` backwards from the end. In a well-formed message the last brace
// closes the root, so the member before it is the root's.
func lastID(tail []byte) ID {
	rest, ok := cutLast(tail, '}')
	if !ok {
		return nil
	}
	begin := tokenStart(rest)
	token := rest[begin:]
	rest, ok = cutLast(rest[:begin], ':')
	if !ok || !bytes.HasSuffix(rest, []byte(`"id"`)) {
		return nil
	}
	before := bytes.TrimRight(rest[:len(rest)-len(`"id"`)], jsonSpace)
	if !bytes.HasSuffix(before, []byte(",")) && !bytes.HasSuffix(before, []byte("{")) {
		return nil
	}
	v, err := ParseValue(token, Limits{})
	if err != nil || v.Type() != TypeNumber && v.Type() != TypeString {
		return nil
	}
	return ID(v.raw)
}

const jsonSpace = " \t\r\n"

// cutLast returns what stands before the last byte, without the white space around it, if that
// byte is c.
func cutLast(b []byte, c byte) ([]byte, bool) {
	b = bytes.TrimRight(b, jsonSpace)
	if len(b) == 0 || b[len(b)-1] != c {
		return nil, false
	}
	return bytes.TrimRight(b[:len(b)-1], jsonSpace), true
}

// tokenStart returns where the number or the string without escapes at the end of b begins; what
// it finds still has to be parsed.
func tokenStart(b []byte) int {
	if n := len(b); n > 1 && b[n-1] == '"' {
		return max(0, bytes.LastIndexByte(b[:n-1], '"'))
	}
	i := len(b)
	for i > 0 && (isDigit(b[i-1]) || bytes.IndexByte([]byte("+-.eE"), b[i-1]) >= 0) {
		i--
	}
	return i
}
