// Package run walks through a workflow, one step at a time.
//
// It is a state machine without state: [Start] returns the [Position] of a new run, [Position.Pending] the step to do
// there, and [Advance] the position after that step. A position is a small, complete JSON value; the caller stores it.
// The same workflow, position and context always give the same result, no function does I/O, and the cost of a call
// does not depend on the number of completed steps.
//
// A context is a decoded JSON object, as package jsonvalue describes it. It may change between calls; a loop keeps the
// parts that it needs in the position. Errors are a closed set, see [Error].
package run
