package wire

import "strconv"

// Malformation is a [Flaw] at a place: the error of this package. It is a comparable value;
// find it in a chain with errors.As. The zero value says that nothing is wrong and is never
// returned as an error.
type Malformation struct {
	Flaw   Flaw
	Offset int // of the byte that shows the flaw, counted from the start of the given bytes
}

// Error returns the spelling, the place and the reason, as in
// "duplicate_key at byte 17: an object names a member twice". It never echoes peer data.
func (e Malformation) Error() string {
	return e.Flaw.String() + " at byte " + strconv.Itoa(e.Offset) + ": " + e.Flaw.Reason()
}

// Is makes errors.Is(err, Malformation{Flaw: f}) true for any offset when the target's offset
// is zero, so that a caller can ask for the flaw alone.
func (e Malformation) Is(target error) bool {
	t, ok := target.(Malformation)
	return ok && t.Flaw == e.Flaw && (t.Offset == 0 || t.Offset == e.Offset)
}
