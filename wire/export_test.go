package wire

// The word tricks are tested directly: a fault in them shows only in bytes that happen to be
// neighbours.
var (
	Unplain = unplain
	Suspect = suspect
	Either  = either
	IsPlain = isPlain
)
