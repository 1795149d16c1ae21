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
	"ms": time.Millisecond, "msec": time.Millisecond, "msecs": time.Millisecond, "millis": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
}

// delayOf finds the time at which the peer says to try again.
func (r *reader) delayOf(s string) {
	low := lowerASCII(s)
	for _, m := range tables().RetryTimes {
		if rest, ok := after(s, low, m); ok {
			r.momentIn(rest, strings.Contains(m, "ratelimit-reset"))
		}
	}
	for _, w := range tables().Waits {
		if d, ok := waitAfter(low, w.Text, w.Value == "bare"); ok {
			r.delay(d)
			break
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

func waitAfter(low, words string, bare bool) (time.Duration, bool) {
	rest, ok := after(low, low, words)
	if !ok {
		return 0, false
	}
	for _, f := range tables().Fillers {
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
		end := 0
		for end < len(rest) && isLetter(rest[end]) {
			end++
		}
		word := rest[:end]
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
