package token

// Problem is why a token is not accepted.
type Problem int

// Each problem has a code of its own on the wire.
const (
	InvalidFormat Problem = iota + 1
	UnsupportedVersion
	BadSignature
	ScopeMismatch
)

// Error describes a token that is not accepted. It never holds the token.
type Error struct {
	Problem  Problem
	Reason   string // a stable word, such as too_short
	Expected string // a phrase
}

// Error returns a sentence without its full stop.
func (e *Error) Error() string {
	return "the token is not accepted (" + e.Reason + "): expected " + e.Expected
}
