package fleet

import (
	"errors"
	"strings"

	"github.com/candor-mcp/candor"
)

// Reason returns the text of an error of a store for an operator: its message, and its cause where the message has neither the cause nor a
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
