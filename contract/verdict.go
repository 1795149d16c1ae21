// Package contract implements the rules of spec/contract.md: [Read] turns any answer of an MCP server into a verdict and, if it
// failed, into one error; [Normalise] attaches that error to the answer; [Redact] and [Bound] clean text. The gateway, the
// boundary and the probe use the same rules.
//
// The package is pure: no I/O, no clock, no randomness, no state between calls. The same bytes give the same result.
package contract

// Verdict is the result of [Classify]. The set is closed, and every message has one verdict.
type Verdict string

// The verdicts.
const (
	VerdictClean     Verdict = "clean"     // nothing failed, or the failure cannot be distinguished from success
	VerdictProtocol  Verdict = "protocol"  // a JSON-RPC error
	VerdictTool      Verdict = "tool"      // a result with isError
	VerdictMasked    Verdict = "masked"    // a failure in the form of a success
	VerdictMalformed Verdict = "malformed" // not a valid message of the protocol
	VerdictLost      Verdict = "lost"      // no answer came
	VerdictStray     Verdict = "stray"     // an answer that matches no call
)

// Verdicts returns the closed set in the order of the written contract.
func Verdicts() []Verdict {
	return []Verdict{
		VerdictClean, VerdictProtocol, VerdictTool, VerdictMasked, VerdictMalformed, VerdictLost, VerdictStray,
	}
}

// Failure reports whether the call failed.
func (v Verdict) Failure() bool { return v != VerdictClean }

// Certainty is how a verdict was reached.
type Certainty string

// The certainties. A verdict from the protocol's fields, Candor's own envelope or a rule for that server is certain. A verdict from
// the shape or the words of a payload is suspected: a tool that reads files may return anything.
const (
	Certain   Certainty = "certain"
	Suspected Certainty = "suspected"
)

// Conclusion is a verdict with the rule that led to it. It is a small value.
type Conclusion struct {
	Verdict    Verdict
	Certainty  Certainty
	Rule       Rule
	Confidence float64 // 1 if certain, else how often the rule is right
}
