package wire

// The word tricks are tested directly: a fault in them shows only in bytes that happen to be
// neighbours.
var (
	Unplain = unplain
	Suspect = suspect
	Either  = either
	IsPlain = isPlain
)

// Valid reports whether data is one JSON text within the limits.
func Valid(data []byte, lim Limits) bool {
	_, err := ParseValue(data, lim)
	return err == nil
}
