package redact

// Placeholder stands for the value of a member whose name says that it holds a secret; see [Key].
const Placeholder = opening + kindSecret + "]"

// Chars returns s without unsafe characters and nothing else: for short identifiers, such as the name of a tool, in
// which secrets and paths are not to be looked for.
func Chars(s string) string { return clean(s) }
