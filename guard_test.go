package candor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// Types whose methods fail while a failure is reported.
type (
	badJSON   struct{}
	badText   struct{}
	badKey    int
	badCode   struct{}
	badNumber struct{}
	badUnwrap struct{}
	badForest struct{}
	badIs     struct{}
	badAs     struct{}
	badError  struct{}
	badPanic  struct{}
	badNil    struct{ *badJSON }
	worse     struct{}
)

func (badJSON) MarshalJSON() ([]byte, error) { panic("json") }
func (badText) MarshalText() ([]byte, error) { panic("text") }
func (badKey) MarshalText() ([]byte, error)  { panic("key") }
func (badCode) Error() string                { return "bad code" }
func (badCode) ErrorCode() string            { panic("code") }
func (badNumber) Error() string              { return "bad number" }
func (badNumber) Code() int                  { panic("number") }
func (badUnwrap) Error() string              { return "bad unwrap" }
func (badUnwrap) Unwrap() error              { panic("unwrap") }
func (badForest) Error() string              { return "bad forest" }
func (badForest) Unwrap() []error            { panic("forest") }
func (badIs) Error() string                  { return "bad is" }
func (badIs) Is(error) bool                  { panic("is") }
func (badAs) Error() string                  { return "bad as" }
func (badAs) As(any) bool                    { panic("as") }
func (badError) Error() string               { panic("error") }
func (badPanic) Error() string               { panic(worse{}) }
func (worse) Error() string                  { panic(worse{}) }

// TestForeignMethodsMayPanic checks that a failure is reported even if methods of the caller's types panic.
func TestForeignMethodsMayPanic(t *testing.T) {
	for name, v := range map[string]any{"json": badJSON{}, "text": badText{}, "nil receiver": badNil{}, "pointer": &badJSON{}} {
		if got := candor.DetailsOf(map[string]any{"a": v, "b": 1}).String(); got != `{"a":"[unencodable]","b":1}` {
			t.Errorf("%s: %s", name, got)
		}
		if e := candor.FromUnknown(v); e.Code() != candor.CodeInternalError {
			t.Errorf("%s: %v", name, e)
		}
	}
	if got := candor.DetailsOf(map[badKey]int{7: 1}).String(); got != `{"7":1}` {
		t.Errorf("a key: %s", got)
	}
	for _, err := range []error{badCode{}, badNumber{}, badUnwrap{}, badForest{}, badIs{}, badAs{}, badError{}, badPanic{}} {
		for _, wrapped := range []error{err, forest{err}, errors.Join(err, err)} {
			e := candor.From(wrapped)
			if e.Code() != candor.CodeInternalError || e.Cause().Message == "" {
				t.Errorf("%T: %v, cause %+v", err, e, e.Cause())
			}
			if errors.Is(e, errEOF) { // errors.Is must be able to walk the result
				t.Errorf("%T is what it is not", err)
			}
			e = candor.New(candor.CodeTimeout, "", candor.WithCause(wrapped), candor.WithDetails(wrapped))
			if e.Details().IsZero() || candor.CodeOf(e) != candor.CodeTimeout {
				t.Errorf("%T: %v", err, e)
			}
		}
	}
	if got := candor.DetailsOf(badPanic{}).String(); !strings.Contains(got, "unencodable") {
		t.Error(got)
	}
}
