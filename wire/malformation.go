package wire

import (
	"strconv"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// Malformation is the error of this package: a flaw and its offset. Flaw.String returns one of the names in section 10
// of spec/contract.md, such as "duplicate_key". A Malformation is comparable; find it in a chain with errors.As. The zero value
// means no flaw and is never returned as an error.
type Malformation struct {
	Flaw   wireflaw.Flaw
	Offset int // of the byte that shows the flaw, counted from the start of the given bytes
}

// Error returns the name, the position and the reason, as in
// "duplicate_key at byte 17: an object names a member twice". It never quotes the peer.
func (e Malformation) Error() string {
	return e.Flaw.String() + " at byte " + strconv.Itoa(e.Offset) + ": " + e.Flaw.Reason()
}

// Is makes errors.Is(err, Malformation{Flaw: f}) true for any offset when the target's offset
// is zero, so that a caller can ask for the flaw alone.
func (e Malformation) Is(target error) bool {
	t, ok := target.(Malformation)
	return ok && t.Flaw == e.Flaw && (t.Offset == 0 || t.Offset == e.Offset)
}
