package dialect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redact"
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
// Issues that may not be the reason of the failure follow a line "Also:"; those that cannot be are left out. Nothing is said twice: a
// message that the issues repeat is left out, so are the parts of an issue that the message has, and a suggestion that becomes a part of
// the retry line. The catalogue's suggestion for a code that was inferred is left out too, unless it names who has to act.
//
// Code, retry and ref are never cut. The other parts share the remaining bytes; a part that was cut ends in "…".
// The second and later lines of what a server said are indented; newlines in another part are replaced by spaces.
func AppendText(dst []byte, e *candor.Error) []byte {
	if dst == nil {
		dst = make([]byte, 0, 384) // enough for most
	}
	e = whole(e)
	issues := issuesOf(e)
	ref, symbol := oneLine(e.Ref()), e.Code().Symbol()
	message, issues := saidOnce(e, oneLine(e.Message()), issues)
	if message != "" {
		message = indented(e.Message())
	}
	var digits [64]byte // the retry line needs no allocation
	retry, next := adviceLines(digits[:0], e)
	room := maxReadable - len(symbol) - len(": ") - len("\nRetry: ") - len(retry) - len("\n")
	if ref != "" {
		room -= len("\nRef: ") + len(ref)
	}
	message = truncate.Text(message, room-min(room/3, lineLen("\nNext: ", next))-min(room/4, len(issues)*48))
	room -= len(message)
	next = truncate.Text(next, room-len("\nNext: ")-min(room/2, len(issues)*48))
	room -= lineLen("\nNext: ", next)
	theirs := serverAdvice(e)
	if strings.Contains(oneLine(message), oneLine(theirs)) {
		theirs = ""
	}
	theirs = truncate.Text(theirs, room/3)
	room -= lineLen("\nServer says: ", theirs)

	dst = appendLine(append(dst, symbol...), ": ", message)
	if len(issues) > 0 && !mayBeArguments(e) && room > len(alsoHead) {
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
// left out, and so are the parts of the issues that the message has.
func saidOnce(e *candor.Error, message string, issues []candor.Issue) (string, []candor.Issue) {
	switch e.Class() {
	case candor.ClassUnavailable, candor.ClassRateLimited, candor.ClassDenied, candor.ClassPrecondition:
		return message, nil // the arguments are not the reason
	default:
	}
	if mayBeArguments(e) && len(issues) > 0 && (message == e.Code().Info().Sentence || repeatsIssues(message, issues)) {
		message = ""
	}
	var shown []candor.Issue
	for _, i := range issues {
		if i = unsaid(i, message); i.Message+i.Hint+i.Rule != "" && !explained(i, issues) {
			shown = append(shown, i)
		}
	}
	return message, shown
}

// mayBeArguments reports whether wrong arguments are the reason of an error.
func mayBeArguments(e *candor.Error) bool { return e.Class() == candor.ClassBadRequest }

// unsaid returns an issue without the parts that the message has: its sentence, and its example.
func unsaid(i candor.Issue, message string) candor.Issue {
	if i.Rule != "pattern" && i.Rule != "format" && i.Rule != "required" {
		i.Example = nil // the sentence has the values
	}
	if message == "" || !hasFacts(message, i) {
		return i
	}
	if strings.HasPrefix(i.Hint, "this is the closest") || i.Rule == "required" && strings.HasPrefix(i.Hint, "must be") {
		i.Hint = ""
	}
	return candor.Issue{Path: i.Path, Hint: i.Hint}
}

// explained reports whether another issue says that this missing key was misspelt.
func explained(missing candor.Issue, issues []candor.Issue) bool {
	if missing.Rule != "required" {
		return false
	}
	at := strings.LastIndexByte(missing.Path, '/') + 1
	return slices.ContainsFunc(issues, func(i candor.Issue) bool {
		return i.Rule != "required" && strings.HasPrefix(i.Path, missing.Path[:at]) && i.Hint == "did you mean "+strconv.Quote(missing.Path[at:])+"?"
	})
}

// shortestRepeat is the length of the shortest text that is taken for a repetition.
const shortestRepeat = 6

// hasFacts reports whether a message has what an issue says, perhaps in other words: the name of the argument with the sentence, or with
// every value, number and type in it.
func hasFacts(message string, i candor.Issue) bool {
	name := i.Path[strings.LastIndexByte(i.Path, '/')+1:]
	text, low := clause(i.Message), strings.ToLower(message)
	switch {
	case !hasWord(message, name):
		return false
	case len(text) >= shortestRepeat && name != "" && strings.Contains(message, text):
		return true
	case i.Rule == "required":
		return name != "" && missingWords.Get().MatchString(low)
	case i.Rule == "unknown_key":
		return unknownWords.Get().MatchString(low)
	}
	wanted, _, _ := strings.Cut(text, ", not ")
	facts := factWords.Get().FindAllStringSubmatch(wanted, -1)
	for _, fact := range facts {
		if word := cmp.Or(fact[1], fact[2], fact[3]); !hasWord(message, word) && !anyWord(low, sameType[word]) {
			return false
		}
	}
	return len(facts) > 0 && !strings.Contains(wanted, "…")
}

var (
	missingWords = lazyregexp.New(`\b(?:required|missing|undefined|provided?|specified|nan|absent|empty)\b`)
	unknownWords = lazyregexp.New(`\b(?:unrecognized|unknown|additional|unexpected|extra|permitted)\b`)
	factWords    = lazyregexp.New(`(?:pattern|valid) (\S.*)|"((?:[^"\\]|\\.)*)"|(\d[\d.]*|\b(?:string|number|integer|boolean|array|object|null)\b)`)
	sameType     = map[string][]string{"string": {"str", "text"}, "number": {"float", "integer", "int"}, "integer": {"int", "number"},
		"boolean": {"bool"}, "array": {"list"}, "object": {"record", "dict", "dictionary", "map"}}
)

func anyWord(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return hasWord(text, word) })
}

// hasWord reports whether a text has a word that is not a part of a longer one.
func hasWord(text, word string) bool {
	for rest := text; ; {
		before, after, found := strings.Cut(rest, word)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !isLetter(last) && !isLetter(next) || word == "" {
			return true
		}
		rest = after
	}
}

func isLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

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
	return indented(text)
}

// Suggestions that become a part of the retry line.
const (
	waitAdvice  = "Wait as long as the retry advice says"
	checkAdvice = "Check whether the call took effect before making a new one"
	readsAdvice = "If the tool only reads, "
	againAdvice = "send the same call again"
)

// withoutWait returns what a suggestion says besides waiting: what to do if that does not help, or instead.
func withoutWait(text string) string {
	_, rest, ok := strings.Cut(text, "; ")
	if !ok {
		_, rest, ok = strings.Cut(text, ", or ")
	}
	if !ok {
		return ""
	}
	return sentence(rest)
}

// sentence returns what follows a part of a suggestion, as a sentence.
func sentence(text string) string {
	text = strings.TrimLeft(text, ".;, ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// adviceLines returns the retry line, appended to dst, and the suggestion, without what it repeats of the lines before.
func adviceLines(dst []byte, e *candor.Error) (retry []byte, next string) {
	next = oneLine(e.Suggestion())
	switch r := e.Retry(); r.Kind() {
	case candor.RetryImmediate:
		dst = append(dst, "at once"...)
	case candor.RetryAfterMs:
		dst = append(strconv.AppendInt(append(dst, "after "...), r.AfterMs(), 10), " ms"...)
		switch {
		case next == e.Code().Info().Action && e.Origin().Inferred:
			next = ""
		case strings.HasPrefix(next, waitAdvice):
			next = withoutWait(next)
		}
	case candor.RetryNever:
		own := ""
		own, next = noRetryLines(e, next)
		dst = append(dst, own...)
	}
	return dst, next
}

func noRetryLines(e *candor.Error, next string) (retry, rest string) {
	if rest, ok := strings.CutPrefix(next, checkAdvice); ok {
		return "not before checking whether the call took effect", sentence(rest)
	}
	if own, ok := strings.CutPrefix(next, readsAdvice); ok {
		if wait, rest, ok := strings.Cut(own, againAdvice); ok {
			if ms, ok := strings.CutSuffix(wait, " and "); ok {
				return "only if the tool just reads, after" + strings.TrimPrefix(ms, "wait"), sentence(rest)
			}
			return "only if the tool just reads", sentence(rest)
		}
	}
	switch action := e.Code().Info().Action; {
	case next == action && e.Code() == candor.CodeInvalidArguments:
		return "only with corrected arguments", ""
	case next == action && e.Origin().Inferred && !strings.Contains(next, "the operator") && !strings.Contains(next, "the user"):
		return "not the same call", ""
	default:
		return "not the same call", next
	}
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

// indented returns a text whose second and later lines begin with two spaces, so that they cannot imitate a line of the block. Blank lines
// are left out.
func indented(s string) string {
	if s = redact.FoldLines(s); !strings.ContainsAny(s, "\n\r") {
		return s
	}
	var lines []string
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimRight(line, " \t"); strings.TrimLeft(line, " \t") != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n  ")
}

// oneLine joins lines, so that a text cannot imitate a line of the block.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}
