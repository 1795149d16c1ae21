package foreign

import (
	"strings"
	"time"
)

// Waits that are not a fixed phrase with a number behind it.

// retryVerbs open "retry this request in 30 seconds".
var retryVerbs = []string{"retry ", "try ", "resend ", "repeat ", "attempt ", "resubmit "}

// retried are the words that may stand between the verb and the wait; any other word makes it another sentence.
var retried = set("this", "the", "your", "that", "it", "again", "request", "requests", "call", "operation", "query", "action", "command", "message", "same", "api", "a", "new", "another", "once", "more", "or")

// laterIn finds such a sentence.
func laterIn(low string) (time.Duration, bool) {
	for _, verb := range retryVerbs {
		for from := 0; ; {
			i := strings.Index(low[from:], verb)
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(verb)
			if at > 0 && isLetter(low[at-1]) {
				continue
			}
			if d, ok := spanBehind(low[from:]); ok {
				return d, true
			}
		}
	}
	return 0, false
}

// spanBehind skips what is retried and reads "in 30 seconds".
func spanBehind(rest string) (time.Duration, bool) {
	for range 6 {
		word, after, ok := strings.Cut(rest, " ")
		switch {
		case !ok:
			return 0, false
		case word == "in" || word == "after":
			for _, f := range fillers {
				after = strings.TrimPrefix(after, f)
			}
			return span(after, false)
		case !retried[word]:
			return 0, false
		}
		rest = after
	}
	return 0, false
}

// laterMarks follow a span in languages that put it first: 30秒后重试, 30 秒後に再試行, 60초 후.
var laterMarks = []string{"后", "後", "之后", "以后", "후", "内后"}

// laterWords tell that such a span is a wait for another try.
var laterWords = []string{"重试", "重試", "再试", "再試", "请求", "お試し", "やり直", "다시", "재시도", "稍"}

// laterBefore reads a span with such a mark behind it.
func laterBefore(low string) (time.Duration, bool) {
	told := false
	for _, w := range laterWords {
		told = told || strings.Contains(low, w)
	}
	for i := 0; told && i < len(low); i++ {
		if !isDigit(low[i]) || i > 0 && (isDigit(low[i-1]) || low[i-1] == '.') {
			continue
		}
		_, rest, ok := leadingNumber(low[i:])
		rest = strings.TrimLeft(rest, " ")
		word := unitWord(rest)
		if !ok || units[word] == 0 {
			continue
		}
		tail := strings.TrimLeft(rest[len(word):], " ")
		for _, m := range laterMarks {
			if strings.HasPrefix(tail, m) {
				return span(low[i:], false)
			}
		}
	}
	return 0, false
}
