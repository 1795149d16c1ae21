package contract

// Rules returns every rule in the order they are tried.
func Rules() []string {
	return []string{
		ruleNoAnswer, ruleNothingToJudge, ruleMalformed, ruleNotAnAnswer,
		ruleWrongID, ruleRPCError, ruleCandorMeta, ruleIsError,
		ruleWaiting, ruleBlocked, ruleDialect, ruleLegacyResult,
		ruleErrorBlock, ruleInnerFlag, ruleFalseFlag, ruleErrorMember,
		ruleErrorsMember, ruleStatusWord, ruleStatusNumber, ruleErrorMessage,
		ruleAllRejected, ruleErrorPage, ruleErrorText, ruleFailureText,
		ruleOwnVoiceText, ruleHeadedText, ruleAnsweredClean,
	}
}
