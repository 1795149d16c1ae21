package dialect

import (
	"encoding/json"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// A later version of the contract may register codes that this version does not know. An error with such a code is read like an
// HTTP status that a client does not know: its class decides. The error gets the registered code that is as general as the
// class, and details.said keeps the code, domain and number that were written. See docs/decisions/015-codes-of-a-later-version.md.

// classCodes maps each class to the code that replaces an unknown code of that class.
var classCodes = map[candor.Class]candor.Code{
	candor.ClassBadRequest:   candor.CodeInvalidArguments,
	candor.ClassNotFound:     candor.CodeNotFound,
	candor.ClassDenied:       candor.CodePermissionDenied,
	candor.ClassConflict:     candor.CodeConflict,
	candor.ClassPrecondition: candor.CodePreconditionFailed,
	candor.ClassRateLimited:  candor.CodeRateLimited,
	candor.ClassUnavailable:  candor.CodeUnavailable,
	candor.ClassTimeout:      candor.CodeTimeout,
	candor.ClassCancelled:    candor.CodeCancelled,
	candor.ClassTooLarge:     candor.CodeTooLarge,
	candor.ClassUnsupported:  candor.CodeUnsupported,
	candor.ClassCorrupt:      candor.CodeDataCorrupt,
	candor.ClassInternal:     candor.CodeUnknownToolFailure,
}

// classCode returns the code that replaces an unknown one. For an unknown class it is UNKNOWN_TOOL_FAILURE.
func classCode(class candor.Class) candor.Code {
	if c, ok := classCodes[class]; ok {
		return c
	}
	return candor.CodeUnknownToolFailure
}

// foreignCode is a code that is not registered, as it was written.
type foreignCode struct {
	symbol, domain string
	number, class  wire.Value // class is absent if it is one of the closed set
}

// maxWord is the maximum length of each word in a foreign code.
const maxWord = 64

// isSymbol reports whether s is UPPER_SNAKE.
func isSymbol(s string) bool {
	return isWord(s, func(c byte) bool { return c >= 'A' && c <= 'Z' }, func(c byte) bool { return c == '_' })
}

// isName reports whether s is in lower case with hyphens or underscores, as domains and classes are written.
func isName(s string) bool {
	return isWord(s, func(c byte) bool { return c >= 'a' && c <= 'z' }, func(c byte) bool { return c == '-' || c == '_' })
}

func isWord(s string, letter, mark func(byte) bool) bool {
	if s == "" || len(s) > maxWord || !letter(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && !mark(c) && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// said returns the members of details.said for the code, followed by its previous members.
func (f *foreignCode) said(before wire.Value) json.RawMessage {
	out := object{}.text("code", f.symbol)
	if f.domain != "" {
		out = out.text("domain", f.domain)
	}
	if f.number.Present() {
		out = out.raw("number", f.number.Raw())
	}
	if f.class.Present() {
		out = out.raw("class", f.class.Raw())
	}
	own := out.value()
	if before.Present() && before.Type() != wire.TypeObject {
		before = object{}.raw(valueMember, before.Raw()).value()
	}
	for name, value := range before.Members() {
		if key, _ := name.Str(); !own.Path(key).Present() {
			out = out.keep(name, value)
		}
	}
	return out.json()
}

// symbolCode finds the code for a bare symbol in a dialect. An unregistered symbol becomes UNKNOWN_TOOL_FAILURE, so that reading
// does not fail, and [withSaid] keeps the symbol.
func symbolCode(symbol, domain string) (code candor.Code, known bool) {
	if code, known = candor.LookupSymbol(symbol, domain); known {
		return code, true
	}
	return candor.CodeUnknownToolFailure, false
}

// withSaid keeps an identity that the catalogue does not know as details.said.
func withSaid(e *candor.Error, said object) *candor.Error {
	origin := e.Origin()
	return e.With(candor.WithOrigin(origin.By, true), candor.WithDetails(e.Details().With("said", said.json())))
}
