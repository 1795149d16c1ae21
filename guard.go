package candor

// unencodable replaces a value whose own method failed to encode it.
const unencodable = "[unencodable]"

// guard calls f, which calls a method of a caller's type, and reports whether it returned. Methods such as Error, Unwrap and
// MarshalJSON run while a failure is being reported: a panic in one must not end the process and lose the failure. This is the
// only recover of the package; f must contain only the foreign call, so that no bug of this package is hidden. See
// docs/decisions/007.
func guard(f func()) (returned bool) {
	defer func() {
		if !returned {
			_ = recover()
		}
	}()
	f()
	return true
}
