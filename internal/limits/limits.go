// Package limits has the bounds of an error.
package limits

import "time"

// The bounds of the texts of an error, in bytes of UTF-8. Longer text is cut at a rune boundary and ends in "…", which counts. A
// whole envelope of one error is below 32 KiB in every dialect.
const (
	Message    = 1024
	Suggestion = 512
	Cause      = 1024
	Details    = 8192 // encoded JSON
	Depth      = 16   // of details
	Items      = 100  // of an array or object in details
	Text       = 1024 // one string in details
	Key        = 128  // one member name in details
	CallInfo   = 256  // tool, role, session and the like
	Stack      = 8192 // encoded JSON, in which a newline takes two bytes
)

// RetryAfter is the longest delay. Longer delays are reduced to it: no caller waits more than a week for a tool call, and a
// bounded number cannot overflow a client's timer.
const RetryAfter = 7 * 24 * time.Hour
