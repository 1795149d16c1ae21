package foreign

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/phrase"
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
	if t.kind == kindQuoted {
		return quotedStatus(t.text)
	}
	n := threeDigits(t.text)
	if n == 0 || t.kind == kindWord {
		return 0
	}
	if i+1 < len(toks) && tables().Measures[toks[i+1].low] {
		return 0
	}
	if precedes(toks, i, n) {
		return n
	}
	return 0
}

// quotedStatus reads '404 Not Found' in quotes, as httpx writes it.
func quotedStatus(s string) int {
	number, phrase, _ := strings.Cut(s, " ")
	if n := threeDigits(number); isStatus(n) && phrase != "" && isUpper(phrase[0]) {
		return n
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
		return i == 0 && n >= 400 && isStatus(n) && closes(toks, i)
	}
	return wordBefore(toks, j, i, n, opened, colon)
}

func wordBefore(toks []token, j, i, n int, opened, colon bool) bool {
	w := toks[j].low
	before := ""
	if j > 0 {
		before = toks[j-1].low
	}
	if tables().NotHTTP[w] || tables().NotHTTP[before] {
		return false
	}
	if tables().Sure[w] || strings.HasPrefix(w, "http") && toks[j].kind == kindWord || w == "code" && tables().Sure[before] {
		return true
	}
	if n < 400 && !opened || !isStatus(n) {
		return false
	}
	if tables().Likely[w] && (opened || colon || closes(toks, i) || w == "error" || w == "code") {
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

// phraseStatus finds a status that is stated only by its phrase, or returns 0.
func phraseStatus(s string) int {
	best, at := 0, len(s)
	for phrase, n := range tables().Statuses {
		if i := strings.Index(s, phrase); i >= 0 && i < at && bounded(s, i, i+len(phrase)) {
			best, at = n, i
		}
	}
	if best != 0 {
		return best
	}
	for clause := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune(":.;\n,()-\"", c) }) {
		if n := tables().Clauses[strings.TrimSpace(clause)]; n != 0 {
			return n
		}
	}
	return 0
}

// bounded reports whether s[i:end] is not part of a longer word.
func bounded(s string, i, end int) bool {
	return (i == 0 || !isLetter(s[i-1]) && s[i-1] != '_') && (end >= len(s) || !isLetter(s[end]) && s[end] != '_')
}

// statuses are the numbers that HTTP and its common extensions define; other numbers need a clearer context.
var statuses = phrase.SetOf(strings.Fields(`100 101 102 103 200 201 202 203 204 205 206 207 208 226 300 301 302 303 304 305 307 308
	400 401 402 403 404 405 406 407 408 409 410 411 412 413 414 415 416 417 418 421 422 423 424 425 426 428 429 431 451 499
	500 501 502 503 504 505 506 507 508 510 511 520 521 522 523 524 529`)...)

func isStatus(n int) bool { return statuses[strconv.Itoa(n)] }
