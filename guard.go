package candor

// unencodable stands for a value whose own method failed to say what it is.
const unencodable = "[unencodable]"

// guard calls a method of a caller's type and reports whether it returned. Error, Unwrap, MarshalJSON and their like are
// foreign code that runs while a failure is being reported: a panic in one must not take the process down and
// the failure with it. This is the only recover of the package, and nothing but the foreign call belongs in f, so that
// it hides no mistake of ours. See docs/decisions/007.
func guard(f func()) (returned bool) {
	defer func() {
		if !returned {
			_ = recover()
		}
	}()
	f()
	return true
}
