package framing

import (
	"bytes"

	"github.com/candor-mcp/candor/wire"
)

// peekSize is the number of bytes of an oversized message that are searched for its id.
const peekSize = 4096

// PeekID finds the id of a message of which only the first and the last bytes are known, so that
// an oversized one can be answered. It looks for a top-level id in the head, then for one that is
// the last member in the tail, and returns nil if it finds none. Either slice may be nil; the id
// shares their memory.
//
// The answer is right if the message is well-formed and has one id. Otherwise the id may be
// wrong: use it to end a call early, not to deliver an answer.
func PeekID(head, tail []byte) wire.ID {
	m := wire.Parse(head[:min(len(head), peekSize)], wire.Limits{})
	if id := m.ID(); id != nil {
		return id
	}
	return lastID(tail)
}

// lastID reads `"id":token}` backwards from the end. In a well-formed message the last brace
// closes the root, so the member before it is the root's.
func lastID(tail []byte) wire.ID {
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
	v, err := wire.ParseValue(token, wire.Limits{})
	if err != nil || v.Type() != wire.TypeNumber && v.Type() != wire.TypeString {
		return nil
	}
	return wire.ID(v.Raw())
}

const jsonSpace = " \t\r\n"

// cutLast trims space and removes the trailing byte c.
func cutLast(b []byte, c byte) ([]byte, bool) {
	b = bytes.TrimRight(b, jsonSpace)
	if len(b) == 0 || b[len(b)-1] != c {
		return nil, false
	}
	return bytes.TrimRight(b[:len(b)-1], jsonSpace), true
}

// tokenStart returns the start of the number or string without escapes at the end of b. The caller
// parses it.
func tokenStart(b []byte) int {
	if n := len(b); n > 1 && b[n-1] == '"' {
		return max(0, bytes.LastIndexByte(b[:n-1], '"'))
	}
	return len(bytes.TrimRight(b, "0123456789+-.eE"))
}
