package workbench

import (
	"context"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
)

// System describes one reference server.
type System struct {
	Name         string // as in candor workbench NAME
	Title        string
	Instructions string // what a model is told about the whole
	Dialect      string // what it speaks unless another dialect is asked for
	Domain       string // the domain whose codes it raises
	Tools        []Tool
	Sessionless  bool        // its tools take no session_id
	StrictNull   bool        // null is not accepted in place of no arguments
	Invariants   []Invariant // that must hold at the start, besides those of the workbench itself

	// Pattern chooses the pattern of the dialect dual for the failures of a tool; nil leaves it to the code.
	Pattern func(tool string) dialect.Pattern
	// Gate refuses a call before its arguments are looked at; nil lets all through. It is called at most once for each call.
	Gate func(c *Call) *candor.Error
	// Missing answers a call of a name that is not a tool; nil, or a nil error, leaves the answer to the protocol: an unknown tool.
	Missing func(name string) *candor.Error
	// Lists says whether a tool is listed to a session; nil lists all. A connection without a session is listed all tools.
	Lists func(s *Session, tool string) bool
	// Refine says a failure in the system's own words: another code, what the call knows of plan and phase. nil is no change.
	Refine func(c *Call, e *candor.Error) *candor.Error
	// Failed is told that a tool has failed, before that is recorded, so that it can draw consequences.
	Failed func(ctx context.Context, c *Call, e *candor.Error)
	// Close gives back what the system holds.
	Close func() error
}
