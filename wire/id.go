package wire

import "bytes"

// ID is the id of a message as it was written: 1, 1.0, "1", 9007199254740993. Nil means that
// it is missing. It shares the memory of the message: clone it to keep it longer, and do not
// change it.
type ID []byte

// Value returns the id as a value, absent for nil.
func (id ID) Value() Value { return Value{raw: id} }

// IsNull reports whether the id is written as null, which JSON-RPC uses for an id that could not
// be read and MCP forbids.
func (id ID) IsNull() bool { return id.Value().IsNull() }

// Equal reports whether both are the same id: the same string, however escaped, or the same
// spelling of a number. 1 and 1.0, or 1 and "1", are different ids.
func (id ID) Equal(other ID) bool {
	if bytes.Equal(id, other) {
		return true
	}
	a, b := id.Value(), other.Value()
	return a.Type() == TypeString && b.Type() == TypeString &&
		sameName(unquoted(a.raw), unquoted(b.raw))
}

// AppendKey appends a form that is equal for equal ids and fit to be a map key: a number as it
// is written, a string as a quote and its characters. It allocates only if dst is too small.
func (id ID) AppendKey(dst []byte) []byte {
	if id.Value().Type() != TypeString {
		return append(dst, id...)
	}
	dst, _ = id.Value().appendStr(append(dst, '"'))
	return dst
}
