// Package candor has the error value with which MCP servers report failures. An [Error] says what went wrong ([Error.Code]), what to do
// about it ([Error.Class]), whether the same call may be sent again ([Error.Retry]) and what to do next ([Error.Suggestion]).
//
// # When do I need it?
//
// Use it in a tool handler to choose the code of a failure, and in a client to act on one. To handle all failures of a server, use
// package serve or boundary; to read the failures of any server, use package client.
//
// # How do I build an error?
//
// An error is built from a registered code; everything else has a default from the catalogue.
//
//	err := candor.ToolFailure(kaiza.FileNotFound, "read_file", "",
//		candor.WithDetails(map[string]any{"path": "notes.txt"}),
//		candor.WithCause(cause))
//
// A program cannot make up a code: [Code] is opaque. Candor's own codes are variables of this package, such as [CodeTimeout]; the
// vocabularies of other systems are generated packages below codes, such as codes/kaiza. The zero Error is invalid, and [Error.Validate]
// reports it.
//
// # How do I convert another error?
//
// [From] turns any Go error into an *Error, and [FromUnknown] any recovered panic value. Both return an *Error unchanged.
//
// # What is shown to the peer?
//
// All prose is redacted and bounded when it enters an error, so no dialect and no transport can leak text that an error does not
// hold. Identifiers (tool, session, ref and the like) are bounded and cleaned of control characters, but otherwise kept, because
// operators search for them later. The Go error behind an Error is reachable through [errors.Is] and [errors.As] and is never written
// to a peer; its redacted copy is [Error.Cause].
//
// The package does no I/O and reads no clock: the caller passes in the time, the correlation id and the stack policy.
package candor

//go:generate go run ./internal/catalogue/gen
//go:generate go run ./internal/checklist/run --promises docs/promises.md
