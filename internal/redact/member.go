package redact

// Placeholder stands for the value of a member whose name says that it holds a secret; see [Key].
const Placeholder = opening + kindSecret + "]"

// Chars returns s without unsafe characters and nothing else: for short identifiers, such as the name of a tool, in
// which secrets and paths are not to be looked for.
func Chars(s string) string { return clean(s) }

// Harmless reports whether the value of a member that may hold a secret does not: a word or sentence about the value, a
// variable, or a mask.
func Harmless(value string) bool { return harmless(value) }

// MayHold reports whether a member of this name holds a secret if its value is [Opaque], as key and sig do.
func MayHold(name string) bool { return meaningOf(name).level == weak }

// Opaque reports whether a value looks made by a machine, so that it is a secret behind a name that may be one.
func Opaque(value string) bool { return opaque(value, opaqueLength) && !harmless(value) }

// opaqueLength is the length from which the value of a name that proves little is taken for a secret.
const opaqueLength = 16
