package dialect

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/truncate"
)

// MaxReadable is the maximum number of bytes that [AppendText] appends.
const MaxReadable = 1024

// AppendText appends a text block with everything that a model needs, at most [MaxReadable] bytes of valid UTF-8:
//
//	CODE: message
//	- /path: what is wrong with it
//	- … and 3 more
//	Retry: retry after 2000 ms
//	Next: the suggestion
//	Ref: the correlation id
//
// Code, retry and ref are never cut. Message, fields and suggestion share the remaining bytes; a part that was cut ends in "…".
// Newlines in a part are replaced by spaces.
func AppendText(dst []byte, e *candor.Error) []byte {
	e = whole(e)
	start := len(dst)
	issues := issuesOf(e)
	ref, symbol := oneLine(e.Ref()), e.Code().Symbol()
	room := MaxReadable - len(symbol) - len(": ") - len("\nRetry: ") - len(retryWords(e.Retry())) - maxDigits
	if ref != "" {
		room -= len("\nRef: ") + len(ref)
	}
	message, next := oneLine(e.Message()), oneLine(e.Suggestion())
	message = cut(message, room-min(room/3, lineLen("\nNext: ", next))-min(room/4, len(issues)*48))
	room -= len(message)
	next = cut(next, room-len("\nNext: ")-min(room/2, len(issues)*48))
	room -= lineLen("\nNext: ", next)

	dst = append(append(append(dst, symbol...), ": "...), message...)
	dst = appendIssues(dst, issues, room)
	dst = appendRetryWords(append(dst, "\nRetry: "...), e.Retry())
	dst = appendLine(dst, "\nNext: ", next)
	dst = appendLine(dst, "\nRef: ", ref)
	return dst[:start+min(len(dst)-start, MaxReadable)]
}

// issuesOf decodes the issues. Most errors have none, and a substring search is cheaper than decoding.
func issuesOf(e *candor.Error) []candor.Issue {
	if details := e.Details(); strings.Contains(details.String(), `"issues"`) {
		return details.Issues()
	}
	return nil
}

// maxDigits is the space for the delay in the retry line.
const maxDigits = 20

func retryWords(r candor.Retry) string {
	switch r.Kind() {
	case candor.RetryImmediate:
		return "the same call may be retried at once"
	case candor.RetryAfterMs:
		return "retry after  ms"
	case candor.RetryNever:
		return "do not retry the same call"
	default:
		return ""
	}
}

func appendRetryWords(dst []byte, r candor.Retry) []byte {
	if r.Kind() != candor.RetryAfterMs {
		return append(dst, retryWords(r)...)
	}
	dst = strconv.AppendInt(append(dst, "retry after "...), r.AfterMs(), 10)
	return append(dst, " ms"...)
}

func lineLen(head, text string) int {
	if text == "" {
		return 0
	}
	return len(head) + len(text)
}

func appendLine(dst []byte, head, text string) []byte {
	if text == "" {
		return dst
	}
	return append(append(dst, head...), text...)
}

const (
	moreHead = "\n- … and "
	moreTail = " more"
)

// appendIssues appends a line for every failing field that fits, then the number of those that did not.
func appendIssues(dst []byte, issues []candor.Issue, room int) []byte {
	for i, issue := range issues {
		line := issueLine(issue)
		reserve := 0
		if i < len(issues)-1 {
			reserve = len(moreHead) + 4 + len(moreTail)
		}
		if len(line) > room-reserve {
			if room >= len(moreHead)+4+len(moreTail) {
				dst = strconv.AppendInt(append(dst, moreHead...), int64(len(issues)-i), 10)
				dst = append(dst, moreTail...)
			}
			return dst
		}
		dst = append(dst, line...)
		room -= len(line)
	}
	return dst
}

func issueLine(i candor.Issue) string {
	path, text := oneLine(i.Path), oneLine(i.Message)
	if path == "" {
		path = "(arguments)"
	}
	hint := oneLine(i.Hint)
	switch {
	case text == "":
		text = firstOf(hint, oneLine(i.Rule), notValid)
	case hint != "":
		text += "; " + hint
	default:
		text += exampleWords(i.Example)
	}
	return "\n- " + cut(path, 96) + ": " + cut(text, 160)
}

// exampleWords returns an example of a valid value, or "" if it is too long.
func exampleWords(example any) string {
	if example == nil {
		return ""
	}
	text := candor.DetailsOf(example).String()
	if text == "" || len(text) > 48 {
		return ""
	}
	return "; for example " + text
}

// oneLine joins lines, so that a text cannot imitate a line of the block.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// cut limits s to limit bytes, cut at a rune boundary. A text that was cut ends in "…", inside the limit.
func cut(s string, limit int) string {
	return truncate.Text(s, limit)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
