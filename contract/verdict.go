// Package contract implements the rules of spec/contract.md: it decides whether an answer of an MCP server is a failure, and which error it
// means. The gateway, package boundary and candor probe use the same rules.
//
// # When do I need it?
//
// Use it in a program that sees the messages of servers it does not control, such as a proxy or an analysis of recorded traffic. A client
// on the official go-sdk uses package client, which calls this one.
//
// # How do I start?
//
// [Read] takes an [Exchange], the response and if possible its request, and returns a [Reading]: the verdict, how certain it is, the rule that
// decided it, and the error:
//
//	r := contract.Read(&contract.Exchange{Response: wire.Parse(line, wire.Limits{})})
//	fmt.Println(r.Verdict, r.Certainty, r.Error.Code())
//
// [Classify] and [Interpret] are the two steps of Read. [ReadText], [ReadResult] and [ReadRPCError] read a part of an answer. [Normalise]
// attaches an error to an answer. [Redact] and [Bound] clean text.
//
// # What may I rely on?
//
// The package is pure: no I/O, no clock, no randomness, no state between calls. The same bytes give the same result. Every failure gets a
// registered code; if the answer gives no reason, the code is UNKNOWN_TOOL_FAILURE. A verdict that is guessed from the words of a payload is
// [Suspected], and a program should not change the answer because of it.
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
	Source     Source  // set only if suspected
}
