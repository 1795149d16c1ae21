package candor_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

type (
	numberError   struct{ n int }
	numberedError struct{ n int }
	appError      struct{ n int }
	status        uint16
	fieldError    struct{ Code any }
	intField      struct{ AppCode int }
	unsignedField struct{ Code status }
	textField     struct{ ErrorCode, Code string }
	hiddenField   struct{ code string }
	CloseError    struct{ Code int }
)

func (e numberError) Error() string    { return "by number" }
func (e numberError) Code() int        { return e.n }
func (e numberedError) Error() string  { return "by number" }
func (e numberedError) ErrorCode() int { return e.n }
func (e *appError) Error() string      { return "by number" }
func (e *appError) AppCode() int       { return e.n }
func (e fieldError) Error() string     { return "by field" }
func (e intField) Error() string       { return "by field" }
func (e unsignedField) Error() string  { return "by field" }
func (e *textField) Error() string     { return "by field" }
func (e hiddenField) Error() string    { return "by field " + e.code }
func (e *CloseError) Error() string    { return "closed" }

// TestK8CarriedNumbersAndFieldsSurvive checks that a registered number and a field that holds a code are read as codes.
func TestK8CarriedNumbersAndFieldsSurvive(t *testing.T) {
	want := kaiza.SessionLocked
	n := want.Number()
	for name, thrown := range map[string]any{
		"Code() int": numberError{n}, "ErrorCode() int": numberedError{n}, "AppCode() int": &appError{n}, "wrapped": fmt.Errorf("x: %w", &appError{n}),
		"int field": intField{n}, "unsigned field": &unsignedField{status(n)}, "text field": &textField{Code: "SESSION_LOCKED"}, "first field": &textField{"SESSION_LOCKED", "x"},
		"raw text": "SESSION_LOCKED: Somebody else has it", "raw error": errors.New("SESSION_LOCKED: Somebody else has it"),
		"raw in brackets": "[INTERNAL_ERROR] SESSION_LOCKED: Somebody else has it", "raw, nested": "INTERNAL_ERROR: SESSION_LOCKED: Somebody else has it",
		"raw, wrapped": fmt.Errorf("open: %w", errors.New("SESSION_LOCKED: Somebody else has it")),
	} {
		if e := candor.FromUnknown(thrown, candor.Otherwise(candor.CodeTimeout)); e.Code() != want {
			t.Errorf("%s: %v, want %v", name, e.Code(), want)
		}
	}
	if got := candor.FromUnknown("SESSION_LOCKED: Somebody else has it").Message(); got != "Somebody else has it" {
		t.Errorf("message %q", got)
	}
	for name, thrown := range map[string]any{
		"an HTTP status": numberError{404}, "an exit status": intField{1}, "no number of ours": numberError{999999}, "negative": numberError{-32601}, "no scalar": fieldError{n},
		"not exported": hiddenField{"SESSION_LOCKED"}, "a WebSocket": &CloseError{1001}, "a nil pointer": (*textField)(nil), "another domain": "TIMEOUT: no answer",
		"no colon": "SESSION_LOCKED", "not at the start": "it says SESSION_LOCKED: no", "lower case": "session_locked: no", "no text": ":",
	} {
		if e := candor.FromUnknown(thrown); e.Code() != candor.CodeInternalError {
			t.Errorf("%s: %v", name, e.Code())
		}
	}
	if got := candor.From(numberError{404}).Cause().Code; got != "404" {
		t.Errorf("the cause lost its number: %q", got)
	}
}
