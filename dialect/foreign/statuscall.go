package foreign

import "strings"

// Libraries print a status in forms of their own, where no word such as "status" stands before it.

// printedStatus reports that number i is a status because of the form around it.
func printedStatus(toks []token, i, n int) bool {
	if n < 400 || reasons[n] == "" {
		return false
	}
	return isCounted(toks, i) || isRaised(toks, i) || isTold(toks, i) || isClosing(toks, i)
}

// answers are what a status is an attribute of: "too many 503 error responses", "got a 502 response".
var answers = set("error", "response", "responses", "status", "reply", "answer")

// answerLeads stand before such a number.
var answerLeads = set("many", "a", "an", "the", "got", "received", "with", "returned", "repeated", "http", "consecutive", "another", "upstream")

func isCounted(toks []token, i int) bool {
	return i > 0 && i+1 < len(toks) && answers[toks[i+1].low] && answerLeads[toks[i-1].low]
}

// isRaised reports an exception's first argument: NotFoundError(404, 'no such index').
func isRaised(toks []token, i int) bool {
	return i > 1 && i+1 < len(toks) && toks[i-1].text == "(" && isException(toks[i-2].text) && (toks[i+1].text == "," || toks[i+1].text == ")")
}

// isTold reports aiohttp's form: 403, message='Forbidden', url=….
func isTold(toks []token, i int) bool {
	return toks[i].head && i+3 < len(toks) && toks[i+1].text == "," && toks[i+2].low == "message" && toks[i+3].text == "="
}

// refusing are words of sentences that a status in brackets may close.
var refusing = []string{"authori", "authenti", "permission", "denied", "forbidden", "access", "credential", "token", "login", "not found", "exist", "limit", "quota", "unavailable", "fail", "error", "overload"}

// isClosing reports "(401)" behind the full stop of a sentence that tells of a refusal.
func isClosing(toks []token, i int) bool {
	if i < 3 || i+2 != len(toks) || toks[i-1].text != "(" || toks[i+1].text != ")" || toks[i-2].kind != kindMark || !strings.Contains(".!。", toks[i-2].text) {
		return false
	}
	for _, t := range toks[:i-2] {
		for _, w := range refusing {
			if strings.HasPrefix(t.low, w) {
				return true
			}
		}
	}
	return false
}

// isStatusWord reports words for a status in languages that join words, or of which the last is enough.
func isStatusWord(low string) bool {
	for _, w := range []string{"状态码", "状态代码", "狀態碼", "ステータス", "상태코드"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
