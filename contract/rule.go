package contract

// Rule is the stable id of the reason behind a verdict.
type Rule string

// The rules of [Classify], in the order they are tried. See spec/contract.md for each with an example.
const (
	RuleNoAnswer       Rule = "no-answer"           // the call was never answered
	RuleNothingToJudge Rule = "nothing-to-judge"    // nothing was asked, or the recording ends too early to tell
	RuleMalformed      Rule = "malformed-message"   // the bytes are no JSON-RPC message
	RuleNotAnAnswer    Rule = "not-an-answer"       // a request or notification of the peer's own
	RuleWrongID        Rule = "wrong-id"            // the answer's id is not the call's
	RuleRPCError       Rule = "rpc-error"           // the error member
	RuleCandorMeta     Rule = "candor-meta"         // Candor's own envelope is attached
	RuleIsError        Rule = "is-error"            // isError is true
	RuleWaiting        Rule = "not-finished"        // input is required, or a task goes on
	RuleBlocked        Rule = "blocked"             // a blocked step is an answer, not an error
	RuleDialect        Rule = "server-dialect"      // the dialect configured for this server says so
	RuleLegacyResult   Rule = "legacy-tool-result"  // toolResult.isError is true, where clients do not look
	RuleErrorBlock     Rule = "error-block"         // a content block of the type "error"
	RuleInnerFlag      Rule = "inner-failure-flag"  // ok or success is true outside and false inside
	RuleFalseFlag      Rule = "failure-flag"        // ok or success is false
	RuleErrorMember    Rule = "error-member"        // an error member that says something
	RuleErrorsMember   Rule = "errors-member"       // a list of errors and no data
	RuleStatusWord     Rule = "status-word"         // status is "error" or the like
	RuleStatusNumber   Rule = "status-number"       // an HTTP status of 400 or more with a message
	RuleErrorMessage   Rule = "error-message"       // nothing but a message that reads as a failure
	RuleAllRejected    Rule = "all-items-failed"    // every item of a list failed
	RuleErrorPage      Rule = "error-page"          // an HTML page titled with a failing HTTP status, from a tool that returns no pages
	RuleErrorText      Rule = "error-text"          // the text begins as error messages do
	RuleFailureText    Rule = "failure-sentence"    // the text is one short sentence about a failure
	RuleOwnVoiceText   Rule = "failure-of-own-task" // the tool says that it could not do what it was asked
	RuleHeadedText     Rule = "failure-under-title" // an error below a line that only repeats the arguments
	RuleAnsweredClean  Rule = "clean"               // none of the above
)

// Rules returns every rule in the order they are tried. The caller owns the slice.
func Rules() []Rule {
	return []Rule{
		RuleNoAnswer, RuleNothingToJudge, RuleMalformed, RuleNotAnAnswer,
		RuleWrongID, RuleRPCError, RuleCandorMeta, RuleIsError,
		RuleWaiting, RuleBlocked, RuleDialect, RuleLegacyResult,
		RuleErrorBlock, RuleInnerFlag, RuleFalseFlag, RuleErrorMember,
		RuleErrorsMember, RuleStatusWord, RuleStatusNumber, RuleErrorMessage,
		RuleAllRejected, RuleErrorPage, RuleErrorText, RuleFailureText,
		RuleOwnVoiceText, RuleHeadedText, RuleAnsweredClean,
	}
}

// confidences holds, for each rule that only suspects, how far to trust it.
var confidences = map[Rule]float64{
	RuleLegacyResult: 0.98, RuleErrorBlock: 0.95, RuleInnerFlag: 0.95, RuleFalseFlag: 0.85, RuleErrorMember: 0.8,
	RuleErrorsMember: 0.7, RuleStatusWord: 0.8, RuleStatusNumber: 0.75, RuleErrorMessage: 0.6, RuleAllRejected: 0.8, RuleErrorPage: 0.8,
	RuleErrorText: 0.85, RuleFailureText: 0.6, RuleOwnVoiceText: 0.85, RuleHeadedText: 0.7,
}

// Confidence returns how far a suspicion by this rule is to be trusted; 1 for rules that are certain.
func (r Rule) Confidence() float64 {
	if c, ok := confidences[r]; ok {
		return c
	}
	return 1
}

func certain(v Verdict, r Rule) Conclusion {
	return Conclusion{Verdict: v, Certainty: Certain, Rule: r, Confidence: 1}
}

func suspected(r Rule) Conclusion {
	return Conclusion{Verdict: VerdictMasked, Certainty: Suspected, Rule: r, Confidence: r.Confidence()}
}
