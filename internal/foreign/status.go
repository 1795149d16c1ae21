package foreign

import (
	"strconv"
	"strings"
)

// statusOf finds the HTTP status that a text states. A number alone does not count, because ports, counts, lines and ids look the
// same. A status of 400 or more wins over another; otherwise the first one wins.
func (r *reader) statusOf(s string) {
	toks := r.tokens(s)
	fallback := 0
	for i := range toks {
		n := statusAt(toks, i)
		if n >= 400 {
			r.status(n)
			return
		}
		if fallback == 0 {
			fallback = n
		}
	}
	if n := phraseStatus(s); n != 0 {
		r.status(n)
		return
	}
	r.status(fallback)
}

// statusAt returns the status at token i, or 0.
func statusAt(toks []token, i int) int {
	t := toks[i]
	if n, ok := strings.CutPrefix(t.low, "statuscode="); ok {
		return threeDigits(n)
	}
	if t.kind == kindQuoted {
		return quotedStatus(t.text)
	}
	n := threeDigits(t.text)
	if n == 0 || t.kind == kindWord {
		return 0
	}
	if i+1 < len(toks) && measures[toks[i+1].low] {
		return 0
	}
	if followsReason(toks, i, n) || precedes(toks, i, n) || printedStatus(toks, i, n) {
		return n
	}
	return 0
}

// quotedStatus reads '404 Not Found' in quotes, as httpx writes it.
func quotedStatus(s string) int {
	number, phrase, _ := strings.Cut(s, " ")
	n := threeDigits(number)
	if n != 0 && strings.EqualFold(reasons[n], phrase) {
		return n
	}
	toks := tokens(s)
	for i, t := range toks {
		if n := threeDigits(t.text); n >= 400 && isCounted(toks, i) {
			return n
		}
	}
	return 0
}

func threeDigits(s string) int {
	if len(s) != 3 || !isIndex(s) {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return n
}

// measures are words that make the number before them an amount.
var measures = set("ms", "s", "sec", "seconds", "second", "minutes", "bytes", "kb", "mb", "gb", "items", "results", "rows", "records", "characters", "chars", "tokens", "files",
	"lines", "times", "requests", "users", "entries", "pages", "days", "hours", "%", "px", "points", "percent", "errors", "objects", "words")

// followsReason reports whether the reason phrase of status n follows, as in "429 Too Many Requests", also in brackets.
func followsReason(toks []token, i, n int) bool {
	phrase := strings.Fields(strings.ToLower(reasons[n]))
	if len(phrase) == 0 {
		return false
	}
	at := i + 1
	for at < len(toks) && at <= i+2 && toks[at].kind == kindMark && strings.Contains("(-:—–[", toks[at].text) {
		at++
	}
	for k, w := range phrase {
		if at+k >= len(toks) || toks[at+k].low != w {
			return false
		}
	}
	return true
}

// precedes reports whether the words before a number make it a status. It reads from the nearest word outwards.
func precedes(toks []token, i, n int) bool {
	j, opened, colon := i-1, false, false
	for ; j >= 0 && toks[j].kind == kindMark; j-- {
		switch toks[j].text {
		case "(", "[":
			opened = true
		case ":", "=", "：":
			colon = true
		case "-", "#", "/", "<", ">", "!", "。":
			if toks[j].text == "#" || toks[j].text == "/" || toks[j].text == "<" || toks[j].text == ">" {
				return false
			}
		default:
			return false
		}
	}
	if j < 0 {
		return i == 0 && reasons[n] != "" && n >= 400 && closes(toks, i)
	}
	return wordBefore(toks, j, i, n, opened, colon)
}

// sure are words after which a three-digit number is a status.
var sure = set("status", "statuscode", "http", "status_code", "httpstatus", "http_status", "http/1.1", "http/2", "状态码", "ステータス", "statuscode", "http-status", "responded", "http-statuscode", "estado", "statut", "stato", "состояния", "статус", "ответа", "statuskode", "httpstatuscode")

// likely are words after which a number that HTTP names is a status.
var likely = set("error", "code", "errorcode", "error_code", "response", "returned", "returns", "with", "failed", "failure", "got", "received", "answered", "api", "errors", "success")

// notHTTP are words that make a following status or code something else.
var notHTTP = set("exit", "process", "line", "port", "errno", "signal", "column", "rpc", "exited", "sql", "sqlstate", "mysql", "timeout", "limit", "max", "maximum", "min", "minimum", "size", "length", "count", "total", "id", "number", "version",
	"offset", "width", "height", "amount", "value", "at", "to", "of", "than", "row", "index", "room")

func wordBefore(toks []token, j, i, n int, opened, colon bool) bool {
	w := toks[j].low
	before := ""
	if j > 0 {
		before = toks[j-1].low
	}
	if notHTTP[w] || notHTTP[before] {
		return false
	}
	if sure[w] || isStatusWord(w) || w == "코드" && before == "상태" || strings.HasPrefix(w, "http") && toks[j].kind == kindWord || w == "code" && sure[before] {
		return true
	}
	if n < 400 && !opened || reasons[n] == "" {
		return false
	}
	if likely[w] && (opened || colon || closes(toks, i) || w == "error" || w == "code") {
		return w != "code" || colon || before == "error" || before == "response"
	}
	return colon && closes(toks, i) && cued(toks[:j+1]) || opened && closesBracket(toks, i)
}

// cues are words of sentences about a request that failed.
var cues = []string{"fail", "error", "http", "api", "fetch", "request", "unable", "could", "endpoint", "upstream", "gateway", "get", "post", "put", "delete", "patch", "失败", "错误"}

// cued reports whether the words before a number describe a request.
func cued(before []token) bool {
	for _, t := range before {
		for _, cue := range cues {
			if strings.HasPrefix(t.low, cue) || t.kind == kindURL {
				return true
			}
		}
	}
	return false
}

// closes reports whether a number ends its clause, or a body follows it.
func closes(toks []token, i int) bool {
	if i+1 >= len(toks) || toks[i+1].head {
		return true
	}
	next := toks[i+1]
	return next.kind == kindMark && strings.Contains("{<[.;:-)(", next.text) || next.kind == kindQuoted || isUpper(next.text[0])
}

// closesBracket reports whether the number is in brackets, as in "(429)", followed by punctuation, a body or the end.
func closesBracket(toks []token, i int) bool {
	if i+1 >= len(toks) || toks[i+1].text != ")" && toks[i+1].text != "]" {
		return false
	}
	return i+2 >= len(toks) || strings.Contains(":.{<;,-", toks[i+2].text) || toks[i+2].head
}

// certain maps the reason phrases that only HTTP uses, in the spelling of the standard, to their status.
var certain = map[string]int{
	"Too Many Requests": 429, "Internal Server Error": 500, "Bad Gateway": 502, "Service Unavailable": 503, "Gateway Timeout": 504, "Gateway Time-out": 504,
	"Method Not Allowed": 405, "Unprocessable Entity": 422, "Unprocessable Content": 422, "Payload Too Large": 413, "Request Entity Too Large": 413,
	"Unsupported Media Type": 415, "Not Acceptable": 406, "Precondition Failed": 412, "Proxy Authentication Required": 407, "URI Too Long": 414, "Payment Required": 402,
}

// clauses maps phrases that count only as a whole clause of a sentence.
var clauses = map[string]int{
	"Unauthorized": 401, "Forbidden": 403, "Not Found": 404, "Bad Request": 400, "Conflict": 409, "Gone": 410, "Request Timeout": 408,
	"Too many requests": 429, "Internal server error": 500, "Bad gateway": 502, "Service unavailable": 503, "Gateway timeout": 504, "too many requests": 429,
	"Service Temporarily Unavailable": 503,
}

// phraseStatus finds a status that is stated only by its phrase, or returns 0.
func phraseStatus(s string) int {
	best, at := 0, len(s)
	for phrase, n := range certain {
		if i := strings.Index(s, phrase); i >= 0 && i < at && bounded(s, i, i+len(phrase)) {
			best, at = n, i
		}
	}
	if best != 0 {
		return best
	}
	for clause := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune(":.;\n,()-\"", c) }) {
		if n := clauses[strings.TrimSpace(clause)]; n != 0 {
			return n
		}
	}
	return 0
}

// bounded reports whether s[i:end] is not part of a longer word.
func bounded(s string, i, end int) bool {
	return (i == 0 || !isLetter(s[i-1]) && s[i-1] != '_') && (end >= len(s) || !isLetter(s[end]) && s[end] != '_')
}

// Libraries also print a status in other forms, without a word such as "status" before it.

// printedStatus reports whether number i is a status because of the form around it.
func printedStatus(toks []token, i, n int) bool {
	if n < 400 || reasons[n] == "" {
		return false
	}
	return isCounted(toks, i) || isRaised(toks, i) || isTold(toks, i) || isClosing(toks, i)
}

// answers are nouns that may follow a status: "too many 503 error responses", "got a 502 response".
var answers = set("error", "response", "responses", "status", "reply", "answer")

// answerLeads are words that may precede such a number.
var answerLeads = set("many", "a", "an", "the", "got", "received", "with", "returned", "repeated", "http", "consecutive", "another", "upstream")

func isCounted(toks []token, i int) bool {
	return i > 0 && i+1 < len(toks) && answers[toks[i+1].low] && answerLeads[toks[i-1].low]
}

// isRaised reports whether a number is an exception's first argument: NotFoundError(404, 'no such index').
func isRaised(toks []token, i int) bool {
	return i > 1 && i+1 < len(toks) && toks[i-1].text == "(" && isException(toks[i-2].text) && (toks[i+1].text == "," || toks[i+1].text == ")")
}

// isTold reports whether a number has aiohttp's form: 403, message='Forbidden', url=….
func isTold(toks []token, i int) bool {
	return toks[i].head && i+3 < len(toks) && toks[i+1].text == "," && toks[i+2].low == "message" && toks[i+3].text == "="
}

// refusing are words of sentences that a status in brackets may follow.
var refusing = []string{"authori", "authenti", "permission", "denied", "forbidden", "access", "credential", "token", "login", "not found", "exist", "limit", "quota", "unavailable", "fail", "error", "overload"}

// isClosing reports whether a number is "(401)" after the full stop of a sentence about a refusal.
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

// isStatusWord reports whether a token contains the word for a status in a language without spaces.
func isStatusWord(low string) bool {
	for _, w := range []string{"状态码", "状态代码", "狀態碼", "ステータス", "상태코드"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
