// Package run walks through a workflow, one step at a time.
//
// It is a state machine without state: [Start] returns the [Position] of a new run, [Position.Pending] the step to do
// there, and [Advance] the position after that step. A position is a small JSON value that says everything; storing it is
// the caller's business. The same workflow, position and context always give the same result, nothing here does I/O, and
// the cost of a call does not depend on how many steps were done before.
//
// A context is a decoded JSON object, as package jsonvalue describes it. It may change between calls; what a loop needs to
// remember of it is in the position. Errors are a closed set, see [Error].
package run
