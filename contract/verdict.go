// Package contract implements the rules of spec/contract.md: it decides whether an answer of an MCP server is a
// failure, and which error it means. The gateway, package boundary and candor probe use the same rules.
//
// # When do I need it?
//
// Use it in a program that sees the messages of servers it does not control, such as a proxy or an analysis of recorded
// traffic. A client on the official go-sdk uses package client, which calls this one.
//
// # How do I start?
//
// [Read] takes an [Exchange], the response and if possible its request, and returns a [Reading]: the verdict, how
// certain it is, the rule that decided it, and the error:
//
//	r := contract.Read(&contract.Exchange{Response: wire.Parse(line, wire.Limits{})})
//	fmt.Println(r.Verdict, r.Certainty, r.Error.Code())
//
// [Classify] and [Interpret] are the two steps of Read. [ReadText], [ReadResult] and [ReadRPCError] read a part of an
// answer. [Normalise] attaches an error to an answer. [Redact] and [Bound] clean text.
//
// # What may I rely on?
//
// The package is pure: no I/O, no clock, no randomness, no state between calls. The same bytes give the same result.
// Every failure gets a registered code; if the answer gives no reason, the code is UNKNOWN_TOOL_FAILURE. A verdict that
// is guessed from the words of a payload is [Suspected], and a program should not change the answer because of it.
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

// The certainties. A verdict from the protocol's fields, Candor's own envelope or a rule for that server is certain. A
// verdict from the shape or the words of a payload is suspected: a tool that reads files may return anything.
const (
	Certain   Certainty = "certain"
	Suspected Certainty = "suspected"
)

// Conclusion is a verdict with the rule that led to it. It is a small value.
type Conclusion struct {
	Verdict    Verdict
	Certainty  Certainty
	Rule       string  // the stable id of the rule that gave the verdict
	Confidence float64 // 1 if certain, else how often the rule is right
	Source     Source  // set only if suspected
}

// The rules of [Classify], in the order they are tried. See spec/contract.md for each with an example.
const (
	ruleNoAnswer       = "no-answer"           // the call was never answered
	ruleNothingToJudge = "nothing-to-judge"    // the message needs no answer, or the recording is cut short
	ruleMalformed      = "malformed-message"   // the bytes are not a JSON-RPC message
	ruleNotAnAnswer    = "not-an-answer"       // a request or notification from the peer
	ruleWrongID        = "wrong-id"            // the answer's id is not the call's
	ruleRPCError       = "rpc-error"           // the message has an error member
	ruleCandorMeta     = "candor-meta"         // Candor's envelope is attached
	ruleIsError        = "is-error"            // isError is true
	ruleWaiting        = "not-finished"        // input is required, or a task is still running
	ruleBlocked        = "blocked"             // a blocked step is an answer, not an error
	ruleDialect        = "server-dialect"      // decided by the dialect configured for this server
	ruleLegacyResult   = "legacy-tool-result"  // toolResult.isError is true, where clients do not look
	ruleErrorBlock     = "error-block"         // a content block of the type "error"
	ruleInnerFlag      = "inner-failure-flag"  // ok or success is true outside and false inside
	ruleFalseFlag      = "failure-flag"        // ok or success is false
	ruleErrorMember    = "error-member"        // an error member that says something
	ruleErrorsMember   = "errors-member"       // a list of errors and no data
	ruleStatusWord     = "status-word"         // status is "error" or a similar word
	ruleStatusNumber   = "status-number"       // an HTTP status of 400 or more with a message
	ruleErrorMessage   = "error-message"       // only a message that reads as a failure
	ruleAllRejected    = "all-items-failed"    // every item of a list failed
	ruleErrorPage      = "error-page"          // an HTML page titled with a failing HTTP status, from a tool that returns no pages
	ruleErrorText      = "error-text"          // the text begins like an error message
	ruleFailureText    = "failure-sentence"    // the text is one short sentence about a failure
	ruleOwnVoiceText   = "failure-of-own-task" // the tool says that it could not do its task
	ruleHeadedText     = "failure-under-title" // an error below a line that only repeats the arguments
	ruleAnsweredClean  = "clean"               // any other answer
)

// confidences holds the confidence of each rule that gives a suspected verdict.
var confidences = map[string]float64{
	ruleLegacyResult: 0.98, ruleErrorBlock: 0.95, ruleInnerFlag: 0.95, ruleFalseFlag: 0.85, ruleErrorMember: 0.8,
	ruleErrorsMember: 0.7, ruleStatusWord: 0.8, ruleStatusNumber: 0.75, ruleErrorMessage: 0.6, ruleAllRejected: 0.8, ruleErrorPage: 0.8,
	ruleErrorText: 0.85, ruleFailureText: 0.6, ruleOwnVoiceText: 0.85, ruleHeadedText: 0.7,
}

// confidence returns how often a suspicion by this rule is right, or 1 for rules that are certain.
func confidence(rule string) float64 {
	if c, ok := confidences[rule]; ok {
		return c
	}
	return 1
}

func certain(v Verdict, rule string) Conclusion {
	return Conclusion{Verdict: v, Certainty: Certain, Rule: rule, Confidence: 1}
}

func suspected(rule string) Conclusion {
	return Conclusion{Verdict: VerdictMasked, Certainty: Suspected, Rule: rule, Confidence: confidence(rule)}
}
