// Package candor is the vocabulary of honest failure for MCP servers: one error value that says what went wrong
// ([Error.Code]), what to do about it ([Error.Class]), whether to try again ([Error.Retry]) and what next ([Error.Suggestion]).
//
// # Building an error
//
// An error is built from a registered code; everything else has a safe default from the catalogue.
//
//	err := candor.ToolFailure(kaiza.FileNotFound, "read_file", "",
//		candor.WithDetails(map[string]any{"path": "notes.txt"}),
//		candor.WithCause(cause))
//
// A code that is not in the catalogue cannot be written down: [Code] is opaque. The zero [Error] is invalid and says so.
//
// # What the peer may see
//
// All prose is redacted and bounded when it enters an error, in one place, so no dialect and no transport can leak what an
// error does not hold. Identifiers (tool, session, ref and the like) are bounded and cleaned of control characters, but
// otherwise kept, because somebody has to find them again. The Go error behind it stays reachable through errors.Is and errors.As and is never written to a peer;
// its redacted copy is [Error.Cause].
//
// # Converting
//
// [From] turns any Go error into an *Error and [FromUnknown] any thrown value; both are idempotent.
//
// The package does no I/O and reads no clock: time, correlation id and stack policy are passed in by whoever has them.
package candor
