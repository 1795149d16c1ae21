package foreign

import (
	"strconv"
	"strings"
	"time"
)

// maxDelay is the longest delay that is accepted. A longer one is a point in time or a mistake.
const maxDelay = 366 * 24 * time.Hour

func (r *reader) delay(d time.Duration) {
	if !r.said.Delayed && d >= 0 && d <= maxDelay {
		r.said.RetryAfter, r.said.Delayed = d, true
	}
}

func (r *reader) moment(t time.Time) {
	if r.said.RetryAt.IsZero() && t.Year() > 2000 && t.Year() < 2200 {
		r.said.RetryAt = t.UTC()
	}
}

// units are the words for a unit of time after a number.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "msec": time.Millisecond, "msecs": time.Millisecond, "millis": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond, "毫秒": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second, "秒": time.Second, "sekunden": time.Second, "segundos": time.Second, "secondes": time.Second,
	"초": time.Second, "секунд": time.Second, "секунды": time.Second, "secondi": time.Second, "segundo": time.Second, "sekunde": time.Second,
	"минут": time.Minute, "минуты": time.Minute, "minutos": time.Minute, "minuti": time.Minute, "분": time.Minute, "stunden": time.Hour, "heures": time.Hour, "horas": time.Hour, "ore": time.Hour, "часов": time.Hour, "часа": time.Hour,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute, "分钟": time.Minute, "分": time.Minute, "minuten": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour, "小时": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
}

// waits are words after which a delay follows. If bare is set, a number without a unit means seconds.
var waits = []struct {
	words string
	bare  bool
}{
	{"retry-after", true}, {"retry_after_seconds", true}, {"retry_after", true}, {"retryafterseconds", true}, {"retryafter", true}, {"retry after", true},
	{"retrying in", false}, {"retry in", false}, {"retry again in", false}, {"retrydelay", false}, {"retry delay", false}, {"try again in", false}, {"try again after", false},
	{"again in", false}, {"wait for", false}, {"wait at least", false}, {"wait", false}, {"resets in", false}, {"reset in", false}, {"reset after", false}, {"resets after", false},
	{"available in", false}, {"available again in", false}, {"next request in", false}, {"cooldown", false}, {"back off for", false}, {"backoff", false}, {"expires in", false},
	{"请在", false}, {"请等待", false}, {"再試行", false}, {"重试", false}, {"retry within", false}, {"try in", false}, {"unlocks in", false}, {"réessayez dans", false}, {"réessayer dans", false}, {"de nuevo en", false}, {"intente en", false},
	{"reintente en", false}, {"novamente em", false}, {"riprova tra", false}, {"riprovare tra", false}, {"erneut in", false}, {"sie es in", false}, {"warten sie", false}, {"через", false}, {"attendez", false}, {"espere", false}, {"aguarde", false},
}

// millis are names whose bare number is in milliseconds.
var millis = []string{"retry_after_ms", "retryafterms", "retry-after-ms", "retrydelayms", "afterms", "delayms", "delay_ms", "backoff_ms"}

// moments are words after which a point in time follows.
var moments = []string{"x-ratelimit-reset", "ratelimit-reset", "x-rate-limit-reset", "resets at", "reset at", "reset time", "resets on", "retry at", "retrynotbefore", "retry not before", "try again at", "available at",
	"reset_at", "resetat", "retry-after", "try again after", "retry after", "resets:", "reset:"}

// delayOf finds the time at which the peer says to try again.
func (r *reader) delayOf(s string) {
	low := lowerASCII(s)
	for _, words := range millis {
		if n, ok := numberAfter(low, words); ok {
			r.delay(time.Duration(n * float64(time.Millisecond)))
		}
	}
	for _, m := range moments {
		if rest, ok := after(s, low, m); ok {
			r.momentIn(rest, strings.Contains(m, "ratelimit-reset"))
		}
	}
	for _, w := range waits {
		if d, ok := waitAfter(low, w.words, w.bare); ok {
			r.delay(d)
			break
		}
	}
	for _, find := range []func(string) (time.Duration, bool){laterIn, laterBefore} {
		if d, ok := find(strings.ToLower(s)); ok {
			r.delay(d)
		}
	}
	r.laterOf(low)
}

// laterOf reads phrases for and against another attempt.
func (r *reader) laterOf(low string) {
	for _, words := range []string{"do not retry", "don't retry", "not retryable", "non-retryable", "retrying will not"} {
		if strings.Contains(low, words) {
			r.retryable(false)
		}
	}
	for _, words := range []string{"try again later", "retry later", "try again in", "请稍后", "稍后再试", "稍后重试", "später erneut", "más tarde", "plus tard"} {
		if strings.Contains(low, words) {
			r.retryable(true)
		}
	}
}

// after returns the text after the words, without the marks between a name and its value.
func after(s, low, words string) (string, bool) {
	i := strings.Index(low, words)
	if i < 0 || i > 0 && (isLetter(low[i-1]) || low[i-1] == '_') {
		return "", false
	}
	return strings.TrimLeft(s[i+len(words):], " :=\"'~≈()\t\\"), true
}

func numberAfter(low, words string) (float64, bool) {
	rest, ok := after(low, low, words)
	if !ok {
		return 0, false
	}
	n, _, ok := leadingNumber(rest)
	return n, ok
}

// leadingNumber reads a decimal number and returns the text after it.
func leadingNumber(s string) (n float64, rest string, ok bool) {
	end := 0
	for end < len(s) && (isDigit(s[end]) || s[end] == '.' && end > 0 && end+1 < len(s) && isDigit(s[end+1])) {
		end++
	}
	if end == 0 || end > 15 {
		return 0, s, false
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	return n, s[end:], err == nil
}

// fillers are words that may be between the words for a delay and the number.
var fillers = []string{"for ", "about ", "approximately ", "at least ", "another ", "in ", "after ", "of ", "is ", "approx. ", "up to ", "a further ", "exactly ", "roughly ", "around "}

func waitAfter(low, words string, bare bool) (time.Duration, bool) {
	rest, ok := after(low, low, words)
	if !ok {
		return 0, false
	}
	for _, f := range fillers {
		rest = strings.TrimPrefix(rest, f)
	}
	return span(rest, bare)
}

// span reads "7", "7s", "1m30s", "2 minutes and 5 seconds", "500 ms". Without a unit the number means seconds if bare is set.
func span(s string, bare bool) (total time.Duration, ok bool) {
	for range 4 {
		n, rest, is := leadingNumber(s)
		if !is {
			break
		}
		rest = strings.TrimLeft(rest, " -")
		word := unitWord(rest)
		unit, known := units[word]
		if !known {
			if bare && !ok && n < 1e8 && (word == "" || rest != s) && !dated(rest) {
				return time.Duration(n * float64(time.Second)), true
			}
			break
		}
		if n*float64(unit) > float64(maxDelay) {
			return 0, false
		}
		total, ok = total+time.Duration(n*float64(unit)), true
		s = strings.TrimPrefix(strings.TrimLeft(rest[len(word):], " ,"), "and ")
	}
	return total, ok
}

// dated reports whether a number is the beginning of a date or time: 2026-11-15, 21:30.
func dated(rest string) bool {
	return rest != "" && (rest[0] == ':' && len(rest) > 1 && isDigit(rest[1]) || rest[0] == '/' || isDigit(rest[0]))
}

// unitWord returns the word at the start of s: Latin letters, or one of the units in other scripts.
func unitWord(s string) string {
	for _, u := range []string{"毫秒", "分钟", "小时", "секунды", "секунд", "минуты", "минут", "часов", "часа", "秒", "分", "초", "분"} {
		if strings.HasPrefix(s, u) {
			return u
		}
	}
	end := 0
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	return s[:end]
}

// layouts are the supported formats of a point in time.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.RFC1123Z, time.ANSIC}

// momentIn reads a point in time at the start of s: a date, or seconds or milliseconds since 1970. If small is set, a small number
// is a delay.
func (r *reader) momentIn(s string, small bool) {
	if t, ok := dateIn(s); ok {
		r.moment(t)
		return
	}
	n, rest, ok := leadingNumber(s)
	if !ok || dated(rest) {
		return
	}
	r.epoch(n, small)
}

func (r *reader) epoch(n float64, small bool) {
	switch {
	case n >= 1e12 && n < 1e13:
		r.moment(time.UnixMilli(int64(n)))
	case n >= 1e9 && n < 1e10:
		r.moment(time.Unix(int64(n), 0))
	case small && n < 1e6:
		r.delay(time.Duration(n * float64(time.Second)))
	}
}

// dateIn tries the layouts on the words at the start of s.
func dateIn(s string) (time.Time, bool) {
	s = clip(s, 48)
	for _, end := range dateEnds(s) {
		for _, layout := range layouts {
			if t, err := time.Parse(layout, s[:end]); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// dateEnds returns the positions at which a date may end, the longest first.
func dateEnds(s string) []int {
	ends := []int{len(s)}
	for i := len(s) - 1; i > 9; i-- {
		if strings.IndexByte(" ,.;\"')\n}]", s[i]) >= 0 {
			ends = append(ends, i)
		}
	}
	return ends
}

// The functions below read delays that are not a fixed phrase followed by a number.

// retryVerbs begin "retry this request in 30 seconds".
var retryVerbs = []string{"retry ", "try ", "resend ", "repeat ", "attempt ", "resubmit "}

// retried are the words that may be between the verb and the delay. Any other word ends the search.
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

// spanBehind skips the object of the verb and reads "in 30 seconds".
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

// laterMarks follow a delay in languages that put it first: 30秒后重试, 30 秒後に再試行, 60초 후.
var laterMarks = []string{"后", "後", "之后", "以后", "후", "内后"}

// laterWords show that such a delay is for another attempt.
var laterWords = []string{"重试", "重試", "再试", "再試", "请求", "お試し", "やり直", "다시", "재시도", "稍"}

// laterBefore reads a delay that is followed by such a mark.
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
