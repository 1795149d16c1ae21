package wire

import (
	"iter"
	"math/bits"
)

// Flaw is the name of one way in which bytes fail to be a message. The set is closed and the
// spelling given by [Flaw.String] is stable: it may be stored, counted and compared. The zero
// Flaw means that nothing is wrong.
type Flaw uint8

// The flaws, in three groups, gravest first. A message that has several reports one of the
// gravest group that occurs: in the first group there is only one, in the second it is the first
// that the scan met, in the third the first in this order of judging.
const (
	FlawNone Flaw = iota

	// The scan could not go on, or was not begun.
	FlawTooLarge     // longer than Limits.MaxBytes
	FlawNotJSON      // a byte that no JSON text can have there
	FlawTruncated    // the bytes end inside a value
	FlawTrailingData // something follows the value

	// The scan went on: the structure is known, the content is not to be trusted.
	FlawBOM              // a byte order mark stands before the value
	FlawTooDeep          // nested deeper than Limits.MaxDepth
	FlawControlCharacter // a raw control character inside a string
	FlawBadUTF8          // bytes inside a string that are not UTF-8
	FlawLoneSurrogate    // a \u escape that is half a pair
	FlawDuplicateKey     // an object names a member twice
	FlawFoldedName       // a known name in the wrong case, which some peers accept

	// JSON, but no JSON-RPC 2.0 unit.
	FlawBatch                 // an array where one message belongs
	FlawNotObject             // a scalar where a message belongs
	FlawBadVersion            // jsonrpc is missing or is not "2.0"
	FlawBadID                 // id is a boolean, an object or an array
	FlawNullID                // id is null
	FlawMissingID             // a result without id
	FlawBadMethod             // method is not a string
	FlawBadParams             // params is neither an object nor an array
	FlawBadError              // error is not an object with an integer code and a string message
	FlawResultAndError        // both result and error, neither of them null
	FlawRequestAndResponse    // method together with result or error
	FlawNeitherResultNorError // no method, no result, no error

	flawCount
)

// flawWords is the one table of spellings and reasons. Reasons speak of the grammar only and
// never of what the peer wrote.
var flawWords = [flawCount]struct{ name, reason string }{
	FlawNone:                  {"none", "nothing is wrong"},
	FlawTooLarge:              {"too_large", "the message is longer than the limit"},
	FlawNotJSON:               {"not_json", "a byte stands where JSON does not allow it"},
	FlawTruncated:             {"truncated", "the bytes end inside a value"},
	FlawTrailingData:          {"trailing_data", "something follows the end of the value"},
	FlawBOM:                   {"bom", "a byte order mark stands before the value"},
	FlawTooDeep:               {"too_deep", "the nesting is deeper than the limit"},
	FlawControlCharacter:      {"control_character", "a string holds an unescaped control character"},
	FlawBadUTF8:               {"bad_utf8", "a string is not valid UTF-8"},
	FlawLoneSurrogate:         {"lone_surrogate", "a string escape is half of a surrogate pair"},
	FlawDuplicateKey:          {"duplicate_key", "an object names a member twice"},
	FlawFoldedName:            {"folded_name", "a known member name is written in the wrong case"},
	FlawBatch:                 {"batch", "an array stands where one message belongs"},
	FlawNotObject:             {"not_object", "the message is not an object"},
	FlawBadVersion:            {"bad_version", "jsonrpc is missing or is not \"2.0\""},
	FlawBadID:                 {"bad_id", "id is neither a string nor a number"},
	FlawNullID:                {"null_id", "id is null"},
	FlawMissingID:             {"missing_id", "a result has no id"},
	FlawBadMethod:             {"bad_method", "method is not a string"},
	FlawBadParams:             {"bad_params", "params is neither an object nor an array"},
	FlawBadError:              {"bad_error", "error is not an object with an integer code and a string message"},
	FlawResultAndError:        {"result_and_error", "result and error stand together"},
	FlawRequestAndResponse:    {"request_and_response", "method stands together with result or error"},
	FlawNeitherResultNorError: {"neither_result_nor_error", "there is no method, no result and no error"},
}

// String returns the stable spelling, such as "duplicate_key"; "none" for the zero Flaw and
// "unknown" for a number outside the set.
func (f Flaw) String() string {
	if f >= flawCount {
		return "unknown"
	}
	return flawWords[f].name
}

// Reason returns one readable clause in lower case that never echoes what the peer wrote.
func (f Flaw) Reason() string {
	if f >= flawCount {
		return "the flaw is unknown"
	}
	return flawWords[f].reason
}

// ParseFlaw reads the spelling that [Flaw.String] writes. It knows "none" and refuses "unknown".
func ParseFlaw(name string) (Flaw, bool) {
	for f := range flawCount {
		if flawWords[f].name == name {
			return f, true
		}
	}
	return FlawNone, false
}

// AllFlaws returns the closed set without [FlawNone], gravest first. The caller owns the slice.
func AllFlaws() []Flaw {
	all := make([]Flaw, 0, flawCount-1)
	for f := FlawNone + 1; f < flawCount; f++ {
		all = append(all, f)
	}
	return all
}

// Flaws is a set of [Flaw]. The zero value is the empty set; a Flaws is comparable and is copied
// by assignment.
type Flaws uint32

// FlawsOf returns the set of the given flaws.
func FlawsOf(flaws ...Flaw) Flaws {
	var fs Flaws
	for _, f := range flaws {
		fs = fs.with(f)
	}
	return fs
}

// Has reports whether f is in the set. FlawNone never is.
func (fs Flaws) Has(f Flaw) bool { return fs&bit(f) != 0 }

// Without returns the set less the given flaws: what remains when a caller tolerates them.
func (fs Flaws) Without(flaws ...Flaw) Flaws { return fs &^ FlawsOf(flaws...) }

// Empty reports whether nothing is wrong.
func (fs Flaws) Empty() bool { return fs == 0 }

// All yields the members of the set, gravest first.
func (fs Flaws) All() iter.Seq[Flaw] {
	return func(yield func(Flaw) bool) {
		for rest := uint32(fs); rest != 0; rest &= rest - 1 {
			if !yield(Flaw(bits.TrailingZeros32(rest))) { //nolint:gosec // at most 32
				return
			}
		}
	}
}

func (fs Flaws) with(f Flaw) Flaws { return fs | bit(f) }

// bit is total: FlawNone and numbers outside the set have no bit.
func bit(f Flaw) Flaws {
	if f == FlawNone || f >= flawCount {
		return 0
	}
	return 1 << f
}
