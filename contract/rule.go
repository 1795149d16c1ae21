package contract

// Rule is the stable id of the rule that gave a verdict.
type Rule string

// The rules of [Classify], in the order they are tried. See spec/contract.md for each with an example.
const (
	ruleNoAnswer       Rule = "no-answer"           // the call was never answered
	ruleNothingToJudge Rule = "nothing-to-judge"    // the message needs no answer, or the recording is cut short
	ruleMalformed      Rule = "malformed-message"   // the bytes are not a JSON-RPC message
	ruleNotAnAnswer    Rule = "not-an-answer"       // a request or notification from the peer
	ruleWrongID        Rule = "wrong-id"            // the answer's id is not the call's
	ruleRPCError       Rule = "rpc-error"           // the message has an error member
	ruleCandorMeta     Rule = "candor-meta"         // Candor's envelope is attached
	ruleIsError        Rule = "is-error"            // isError is true
	ruleWaiting        Rule = "not-finished"        // input is required, or a task is still running
	ruleBlocked        Rule = "blocked"             // a blocked step is an answer, not an error
	ruleDialect        Rule = "server-dialect"      // decided by the dialect configured for this server
	ruleLegacyResult   Rule = "legacy-tool-result"  // toolResult.isError is true, where clients do not look
	ruleErrorBlock     Rule = "error-block"         // a content block of the type "error"
	ruleInnerFlag      Rule = "inner-failure-flag"  // ok or success is true outside and false inside
	ruleFalseFlag      Rule = "failure-flag"        // ok or success is false
	ruleErrorMember    Rule = "error-member"        // an error member that says something
	ruleErrorsMember   Rule = "errors-member"       // a list of errors and no data
	ruleStatusWord     Rule = "status-word"         // status is "error" or a similar word
	ruleStatusNumber   Rule = "status-number"       // an HTTP status of 400 or more with a message
	ruleErrorMessage   Rule = "error-message"       // only a message that reads as a failure
	ruleAllRejected    Rule = "all-items-failed"    // every item of a list failed
	ruleErrorPage      Rule = "error-page"          // an HTML page titled with a failing HTTP status, from a tool that returns no pages
	ruleErrorText      Rule = "error-text"          // the text begins like an error message
	ruleFailureText    Rule = "failure-sentence"    // the text is one short sentence about a failure
	ruleOwnVoiceText   Rule = "failure-of-own-task" // the tool says that it could not do its task
	ruleHeadedText     Rule = "failure-under-title" // an error below a line that only repeats the arguments
	ruleAnsweredClean  Rule = "clean"               // none of the above
)

// allRules returns every rule in the order they are tried. The caller owns the slice.
func allRules() []Rule {
	return []Rule{
		ruleNoAnswer, ruleNothingToJudge, ruleMalformed, ruleNotAnAnswer,
		ruleWrongID, ruleRPCError, ruleCandorMeta, ruleIsError,
		ruleWaiting, ruleBlocked, ruleDialect, ruleLegacyResult,
		ruleErrorBlock, ruleInnerFlag, ruleFalseFlag, ruleErrorMember,
		ruleErrorsMember, ruleStatusWord, ruleStatusNumber, ruleErrorMessage,
		ruleAllRejected, ruleErrorPage, ruleErrorText, ruleFailureText,
		ruleOwnVoiceText, ruleHeadedText, ruleAnsweredClean,
	}
}

// confidences holds the confidence of each rule that gives a suspected verdict.
var confidences = map[Rule]float64{
	ruleLegacyResult: 0.98, ruleErrorBlock: 0.95, ruleInnerFlag: 0.95, ruleFalseFlag: 0.85, ruleErrorMember: 0.8,
	ruleErrorsMember: 0.7, ruleStatusWord: 0.8, ruleStatusNumber: 0.75, ruleErrorMessage: 0.6, ruleAllRejected: 0.8, ruleErrorPage: 0.8,
	ruleErrorText: 0.85, ruleFailureText: 0.6, ruleOwnVoiceText: 0.85, ruleHeadedText: 0.7,
}

// confidence returns how often a suspicion by this rule is right, or 1 for rules that are certain.
func (r Rule) confidence() float64 {
	if c, ok := confidences[r]; ok {
		return c
	}
	return 1
}

func certain(v Verdict, r Rule) Conclusion {
	return Conclusion{Verdict: v, Certainty: Certain, Rule: r, Confidence: 1}
}

func suspected(r Rule) Conclusion {
	return Conclusion{Verdict: VerdictMasked, Certainty: Suspected, Rule: r, Confidence: r.confidence()}
}
