package fleet

import (
	"errors"
	"strings"

	"github.com/candor-mcp/candor"
)

// Fault returns an error of a store with a code. It keeps err as the cause.
func Fault(code candor.Code, err error) error {
	return candor.New(code, err.Error(), candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

// IsTemporary reports whether the call that failed may succeed later.
func IsTemporary(err error) bool {
	coded, ok := errors.AsType[*candor.Error](err)
	return ok && (coded.Class() == candor.ClassUnavailable || coded.Class() == candor.ClassTimeout)
}

// Reason returns the text of an error of a store for an operator: its message, and its cause unless the message has the cause or a
// hint.
func Reason(err error) string {
	var coded *candor.Error
	if !errors.As(err, &coded) {
		return err.Error()
	}
	text, cause := coded.Message(), coded.Unwrap()
	if cause == nil || strings.Contains(text, "(hint: ") || strings.Contains(text, cause.Error()) {
		return text
	}
	return text + ": " + cause.Error()
}
