// Package contract holds the rules that turn any answer of an MCP server into a verdict and, where it is a failure, into one
// error: classify, infer, normalise, redact, bound.
//
// Rules of the room: it is pure. It does no I/O, reads no clock, draws no random numbers, keeps no state between calls and
// writes no log; the same bytes give the same answer anywhere. It decides and nobody else does: the gateway, the boundary and the
// probe all ask here.
package contract

// Verdict is what [Classify] concluded about a message. The set is closed and every message has one.
type Verdict string

// The verdicts.
const (
	VerdictClean     Verdict = "clean"     // nothing failed, or nothing that can be told from success
	VerdictProtocol  Verdict = "protocol"  // a JSON-RPC error
	VerdictTool      Verdict = "tool"      // a result that says isError
	VerdictMasked    Verdict = "masked"    // a failure dressed as a success
	VerdictMalformed Verdict = "malformed" // not a message the protocol knows
	VerdictLost      Verdict = "lost"      // no answer came
	VerdictStray     Verdict = "stray"     // an answer to no call
)

// Verdicts returns the closed set in the order of the written contract.
func Verdicts() []Verdict {
	return []Verdict{
		VerdictClean, VerdictProtocol, VerdictTool, VerdictMasked, VerdictMalformed, VerdictLost, VerdictStray,
	}
}

// Failure reports whether the verdict stands for a failed call.
func (v Verdict) Failure() bool { return v != VerdictClean }

// Certainty says how a verdict was reached.
type Certainty string

// The certainties. What the protocol's own fields say, or Candor's own mark, or a rule made for that server, is certain. What is
// read from the shape or the words of a payload is suspected, however clear it looks: a tool that reads files may return anything.
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
