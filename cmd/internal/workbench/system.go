package workbench

import (
	"context"

	"github.com/candor-mcp/candor"
)

// System describes one reference server.
type System struct {
	Name         string // as in candor workbench NAME
	Title        string
	Instructions string // for the model, about the server as a whole
	Dialect      string // the default dialect
	Domain       string // the domain of the codes it raises
	Tools        []Tool
	Sessionless  bool        // tools take no session_id
	StrictNull   bool        // null arguments are refused instead of read as {}
	MaxMessage   int         // bytes of a request; 0 means 12 MiB
	Invariants   []Invariant // checked at startup, after those of the workbench

	// Pattern selects the pattern of the dual dialect for the failures of a tool; if nil, the code selects it.
	Pattern func(tool string) byte
	// Gate refuses a call before its arguments are checked; if nil, every call passes. It is called at most once per
	// call.
	Gate func(c *Call) *candor.Error
	// Missing returns the error for a call of an unknown tool. If it is nil or returns nil, the error of the protocol is
	// sent.
	Missing func(name string) *candor.Error
	// Refine converts a failure to the system's vocabulary: another code, the plan and phase of the call. A nil result changes nothing.
	Refine func(c *Call, e *candor.Error) *candor.Error
	// Failed is called once for each tool that failed, before the failure is recorded.
	Failed func(ctx context.Context, c *Call, e *candor.Error)
	// Close releases the system's resources.
	Close func() error
}

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
