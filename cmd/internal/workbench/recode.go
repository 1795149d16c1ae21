package workbench

import "github.com/candor-mcp/candor"

// Recode returns the same error under another code.
func Recode(e *candor.Error, code candor.Code, message string) *candor.Error {
	options := []candor.Option{
		candor.WithOrigin(e.Origin().By, e.Origin().Inferred), candor.WithCallInfo(e.CallInfo()), candor.WithRef(e.Ref()),
		candor.WithTime(e.Time()), candor.WithStack(e.Stack()), candor.WithCause(e.Unwrap()),
	}
	if !e.Details().IsZero() {
		options = append(options, candor.WithDetails(e.Details()))
	}
	if !e.Cause().IsZero() {
		options = append(options, candor.WithCauseText(e.Cause()))
	}
	if e.Suggestion() != "" {
		options = append(options, candor.WithSuggestion(e.Suggestion()))
	}
	return candor.New(code, message, options...)
}
