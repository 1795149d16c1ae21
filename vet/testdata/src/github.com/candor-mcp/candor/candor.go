// Package candor is a stub with the names that the analyser and its fixes use.
package candor

type Code struct{ index int }

var CodeUnknownToolFailure = Code{128}

type Option struct{}

type Error struct{}

func (e *Error) Error() string { return "" }

func New(code Code, message string, options ...Option) *Error { return &Error{} }

func From(err error, options ...Option) *Error {
	if err == nil {
		return nil
	}
	return &Error{}
}
