// Package wireflaw names the ways in which bytes fail to be a JSON-RPC message.
package wireflaw

import (
	"iter"
	"math/bits"
)

// Flaw is one way in which bytes fail to be a message. The set is closed, and the spelling of [Flaw.String] is stable: it may be
// stored, counted and compared. The zero Flaw is None.
type Flaw uint8

// The flaws, in three groups, the most serious first. A message with several reports one of the most serious group: the only one
// of the first group, the first that the scan found of the second, the first in this order of the third.
const (
	None Flaw = iota

	// The scan stopped, or did not begin.
	TooLarge     // longer than Limits.MaxBytes
	NotJSON      // a byte that no JSON text can have there
	Truncated    // the bytes end inside a value
	TrailingData // something follows the value

	// The scan continued: the structure is known, the content cannot be trusted.
	BOM              // a byte order mark before the value
	TooDeep          // nested deeper than Limits.MaxDepth
	ControlCharacter // a raw control character inside a string
	BadUTF8          // bytes inside a string that are not UTF-8
	LoneSurrogate    // a \u escape that is half a pair
	DuplicateKey     // an object names a member twice
	FoldedName       // a known name in the wrong case, which some peers accept

	// JSON, but not a JSON-RPC 2.0 message.
	Batch                 // an array where one message belongs
	NotObject             // a scalar where a message belongs
	BadVersion            // jsonrpc is missing or is not "2.0"
	BadID                 // id is a boolean, an object or an array
	NullID                // id is null
	MissingID             // a result without id
	BadMethod             // method is not a string
	BadParams             // params is not an object or array
	BadError              // error is not an object with an integer code and a string message
	ResultAndError        // result and error, both not null
	RequestAndResponse    // method together with result or error
	NeitherResultNorError // no method, no result, no error

	count
)

// words has the spelling and the reason of each flaw. Reasons never quote the peer.
var words = [count]struct{ name, reason string }{
	None:                  {"none", "nothing is wrong"},
	TooLarge:              {"too_large", "the message is longer than the limit"},
	NotJSON:               {"not_json", "a byte is not valid JSON"},
	Truncated:             {"truncated", "the bytes end inside a value"},
	TrailingData:          {"trailing_data", "something follows the end of the value"},
	BOM:                   {"bom", "a byte order mark precedes the value"},
	TooDeep:               {"too_deep", "the nesting is deeper than the limit"},
	ControlCharacter:      {"control_character", "a string holds an unescaped control character"},
	BadUTF8:               {"bad_utf8", "a string is not valid UTF-8"},
	LoneSurrogate:         {"lone_surrogate", "a string escape is half of a surrogate pair"},
	DuplicateKey:          {"duplicate_key", "an object names a member twice"},
	FoldedName:            {"folded_name", "a known member name is written in the wrong case"},
	Batch:                 {"batch", "the message is an array"},
	NotObject:             {"not_object", "the message is not an object"},
	BadVersion:            {"bad_version", "jsonrpc is missing or is not \"2.0\""},
	BadID:                 {"bad_id", "id is neither a string nor a number"},
	NullID:                {"null_id", "id is null"},
	MissingID:             {"missing_id", "a result has no id"},
	BadMethod:             {"bad_method", "method is not a string"},
	BadParams:             {"bad_params", "params is neither an object nor an array"},
	BadError:              {"bad_error", "error is not an object with an integer code and a string message"},
	ResultAndError:        {"result_and_error", "the message has a result and an error"},
	RequestAndResponse:    {"request_and_response", "the message has a method and a result or an error"},
	NeitherResultNorError: {"neither_result_nor_error", "there is no method, no result and no error"},
}

// String returns the stable spelling, such as "duplicate_key"; "none" for the zero Flaw and
// "unknown" for a number outside the set.
func (f Flaw) String() string {
	if f >= count {
		return "unknown"
	}
	return words[f].name
}

// Reason returns one clause in lower case that never quotes the peer.
func (f Flaw) Reason() string {
	if f >= count {
		return "the flaw is unknown"
	}
	return words[f].reason
}

// Parse reads the spelling that [Flaw.String] writes. It knows "none" and refuses "unknown".
func Parse(name string) (Flaw, bool) {
	for f := range count {
		if words[f].name == name {
			return f, true
		}
	}
	return None, false
}

// All returns the closed set without [None], the most serious first. The caller owns the slice.
func All() []Flaw {
	all := make([]Flaw, 0, count-1)
	for f := None + 1; f < count; f++ {
		all = append(all, f)
	}
	return all
}

// Set is a set of [Flaw]. The zero value is the empty set; a Set is comparable and is copied
// by assignment.
type Set uint32

// SetOf returns the set of the given flaws.
func SetOf(flaws ...Flaw) Set {
	var fs Set
	for _, f := range flaws {
		fs = fs.With(f)
	}
	return fs
}

// Has reports whether f is in the set. None never is.
func (fs Set) Has(f Flaw) bool { return fs&bit(f) != 0 }

// Without returns the set less the given flaws: what remains when a caller tolerates them.
func (fs Set) Without(flaws ...Flaw) Set { return fs &^ SetOf(flaws...) }

// Empty reports whether nothing is wrong.
func (fs Set) Empty() bool { return fs == 0 }

// All yields the members of the set, the most serious first.
func (fs Set) All() iter.Seq[Flaw] {
	return func(yield func(Flaw) bool) {
		for rest := uint32(fs); rest != 0; rest &= rest - 1 {
			if !yield(Flaw(bits.TrailingZeros32(rest))) { //nolint:gosec // at most 32
				return
			}
		}
	}
}

// With returns the set with f added.
func (fs Set) With(f Flaw) Set { return fs | bit(f) }

// bit returns 0 for None and for numbers outside the set.
func bit(f Flaw) Set {
	if f == None || f >= count {
		return 0
	}
	return 1 << f
}
