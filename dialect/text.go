package dialect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/truncate"
)

// maxReadable is the maximum number of bytes that [AppendText] appends.
const maxReadable = 1024

// AppendText appends a text block with everything that a model needs, at most 1,024 bytes of valid UTF-8 that end in a line end:
//
//	CODE: message
//	- /path: what is wrong with it
//	- … and 3 more
//	Retry: after 2000 ms
//	Next: the suggestion
//	Server says: what a server suggests, from details.said
//	Ref: the correlation id
//
// Issues that are not the reason of the failure follow a line "Also:". Nothing is said twice: a message that the issues repeat is left
// out, and so is a suggestion that only repeats the retry line.
//
// Code, retry and ref are never cut. The other parts share the remaining bytes; a part that was cut ends in "…".
// Newlines in a part are replaced by spaces.
func AppendText(dst []byte, e *candor.Error) []byte {
	if dst == nil {
		dst = make([]byte, 0, 384) // enough for most
	}
	e = whole(e)
	issues := issuesOf(e)
	ref, symbol := oneLine(e.Ref()), e.Code().Symbol()
	var digits [48]byte // a delay in the retry line needs no allocation
	retry, next := adviceLines(digits[:0], e, issues)
	message, issues := saidOnce(e, oneLine(e.Message()), issues)
	room := maxReadable - len(symbol) - len(": ") - len("\nRetry: ") - len(retry) - len("\n")
	if ref != "" {
		room -= len("\nRef: ") + len(ref)
	}
	message = truncate.Text(message, room-min(room/3, lineLen("\nNext: ", next))-min(room/4, len(issues)*48))
	room -= len(message)
	next = truncate.Text(next, room-len("\nNext: ")-min(room/2, len(issues)*48))
	room -= lineLen("\nNext: ", next)
	theirs := serverAdvice(e)
	if strings.Contains(message, theirs) {
		theirs = ""
	}
	theirs = truncate.Text(theirs, room/3)
	room -= lineLen("\nServer says: ", theirs)

	dst = appendLine(append(dst, symbol...), ": ", message)
	if len(issues) > 0 && !isReason(e) && room > len(alsoHead) {
		dst = append(dst, alsoHead...)
		room -= len(alsoHead)
	}
	dst = appendIssues(dst, issues, room)
	dst = appendLine(dst, "\nRetry: ", retry)
	dst = appendLine(dst, "\nNext: ", next)
	dst = appendLine(dst, "\nServer says: ", theirs)
	dst = appendLine(dst, "\nRef: ", ref)
	return append(dst, '\n')
}

// alsoHead begins the issues of a failure that has another reason.
const alsoHead = "\nAlso:"

// saidOnce returns the message and the issues to show. A message that only repeats the issues, or that any error with this code has, is
// left out; an issue that the message contains is left out.
func saidOnce(e *candor.Error, message string, issues []candor.Issue) (string, []candor.Issue) {
	if len(issues) == 0 {
		return message, nil
	}
	if e.Code() == candor.CodeInvalidArguments && message == e.Code().Info().Sentence || isReason(e) && repeatsIssues(message, issues) {
		return "", issues
	}
	return message, slices.DeleteFunc(slices.Clone(issues), func(i candor.Issue) bool {
		text, name := clause(i.Message), i.Path[strings.LastIndexByte(i.Path, '/')+1:]
		return i.Hint == "" && exampleWords(i.Example) == "" && len(text) >= shortestRepeat && name != "" &&
			strings.Contains(message, text) && strings.Contains(message, name)
	})
}

// isReason reports whether the issues of an error are the reason of the failure.
func isReason(e *candor.Error) bool { return e.Class() == candor.ClassBadRequest }

// shortestRepeat is the length of the shortest text that is taken for a repetition.
const shortestRepeat = 6

// repeatsIssues reports whether a message consists of the texts of the issues, apart from the paths of the arguments.
func repeatsIssues(message string, issues []candor.Issue) bool {
	rest := message
	for _, i := range issues {
		text := clause(i.Message)
		if text == "" || !strings.Contains(message, text) {
			return false
		}
		rest = strings.ReplaceAll(rest, text, " ")
	}
	for _, i := range issues {
		path := strings.TrimPrefix(i.Path, "/")
		rest = strings.NewReplacer(path, " ", strings.ReplaceAll(path, "/", "."), " ").Replace(rest)
	}
	return !strings.ContainsFunc(pathWords.Replace(" "+rest+" "), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// pathWords removes the words between a text and its path.
var pathWords = strings.NewReplacer(" at ", " ", " in ", " ", "Parameter ", " ")

func clause(text string) string { return strings.TrimRight(oneLine(text), ". ") }

// issuesOf decodes the issues. Most errors have none, and a substring search is cheaper than decoding.
func issuesOf(e *candor.Error) []candor.Issue {
	if details := e.Details(); strings.Contains(details.String(), `"issues"`) {
		return details.Issues()
	}
	return nil
}

// serverAdvice returns the suggestion of a server, unless it contradicts the retry advice.
func serverAdvice(e *candor.Error) string {
	details := e.Details()
	if !strings.Contains(details.String(), `"suggestion"`) {
		return ""
	}
	var text string
	if details.Get("said").Get("suggestion").Decode(&text) != nil || candor.CheckSuggestion(e.Retry(), text) != nil {
		return ""
	}
	return oneLine(text)
}

// waitAdvice begins suggestions that repeat the delay of the retry line.
const waitAdvice = "Wait as long as the retry advice says"

// withoutWait returns what a suggestion says besides waiting: what to do if that does not help, or instead.
func withoutWait(text string) string {
	_, rest, ok := strings.Cut(text, "; ")
	if !ok {
		_, rest, ok = strings.Cut(text, ", or ")
	}
	if !ok || rest == "" {
		return ""
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// adviceLines returns the retry line, appended to dst, and the suggestion, without what it repeats of the lines before.
func adviceLines(dst []byte, e *candor.Error, issues []candor.Issue) (retry []byte, next string) {
	next = oneLine(e.Suggestion())
	switch r := e.Retry(); r.Kind() {
	case candor.RetryImmediate:
		dst = append(dst, "at once"...)
	case candor.RetryAfterMs:
		dst = append(strconv.AppendInt(append(dst, "after "...), r.AfterMs(), 10), " ms"...)
		if strings.HasPrefix(next, waitAdvice) {
			next = withoutWait(next)
		}
	case candor.RetryNever:
		if e.Code() == candor.CodeInvalidArguments && len(issues) > 0 && next == e.Code().Info().Action {
			return append(dst, "only with corrected arguments"...), ""
		}
		dst = append(dst, "not the same call"...)
	}
	return dst, next
}

func lineLen(head, text string) int {
	if text == "" {
		return 0
	}
	return len(head) + len(text)
}

func appendLine[T string | []byte](dst []byte, head string, text T) []byte {
	if len(text) == 0 {
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
		text = cmp.Or(hint, oneLine(i.Rule), notValid)
	case hint != "":
		text += "; " + hint
	default:
		text += exampleWords(i.Example)
	}
	return "\n- " + truncate.Text(path, 96) + ": " + truncate.Text(text, 160)
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
