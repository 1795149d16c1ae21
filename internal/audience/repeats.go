package audience

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

const (
	maxWholeMessage = 360     // bytes of a message that the readable block never cuts
	minRepeated     = 8       // bytes of a text that is not found in other words by chance
	maxLabel        = 24      // bytes of a label such as "Next step:" between a message and the server's advice
	maxCompared     = 8 << 10 // bytes of a text that is compared by its words
)

// Repeats reports whether a readable block, of an error with that message, has the whole text already. White space, quotes, letter case,
// directories that the block leaves out, and the labels that libraries put before a message are not compared. Of JSON and HTML in the
// text only what they say is compared: a number, a code or a type beside the message is in the details of the error.
func Repeats(block, message, text string) bool {
	said, rest, _ := strings.Cut(block, "\nRetry: ")
	_, advice, _ := strings.Cut(rest, "\nServer says: ")
	advice, _, _ = strings.Cut(advice, "\nRef: ")
	said, message, advice = oneLine(said), oneLine(message), oneLine(advice)
	if text = strings.TrimSpace(text); strings.Contains(text, ": ") {
		text = labels.Get().ReplaceAllString(text, "")
	}
	text = oneLine(text)
	switch short := candor.Public(text, len(text)+1); {
	case text == "" || len(text) >= minRepeated && (strings.Contains(said, text) || strings.Contains(said, short)):
		return true
	case text == message && len(message) <= maxWholeMessage:
		return true
	case (strings.HasSuffix(text, message) || strings.HasSuffix(short, message)) && len(message) >= minRepeated && len(message) <= maxWholeMessage:
		return true // the reader has removed a label
	case advice != "" && strings.HasSuffix(short, advice):
		head, label, found := strings.Cut(strings.TrimSuffix(short, advice), message)
		label = strings.TrimRight(label, "-* ")
		return found && (label == "" || len(label) <= maxLabel && strings.HasSuffix(label, ":")) && len(wordsOf(labels.Get().ReplaceAllString(head, ""))) == 0
	default:
		return len(text) <= maxCompared && len(text) >= minRepeated && hasWords(said, short)
	}
}

// hasWords reports whether said has every word of a text that holds JSON or HTML.
func hasWords(said, text string) bool {
	plain := tags.Get().ReplaceAllString(pages.Get().ReplaceAllStringFunc(text, title), " ")
	if strings.Contains(plain, `{\"`) {
		plain = strings.ReplaceAll(plain, `\"`, `"`)
	}
	known := map[string]bool{"body": true, "response": true, "error": true} // labels of a body
	for _, word := range wordsOf(said) {
		known[word] = true
	}
	var needed []string
	for rest := plain; ; {
		i := strings.IndexAny(rest, "{[")
		if i < 0 {
			needed = append(needed, wordsOf(rest)...)
			break
		}
		needed = append(needed, wordsOf(rest[:i])...)
		var value any
		d := json.NewDecoder(strings.NewReader(rest[i:]))
		if d.Decode(&value) != nil {
			return false
		}
		needed = appendTold(needed, "", value)
		rest = rest[i+int(d.InputOffset()):]
	}
	if plain == text && !strings.ContainsAny(text, "{[") {
		return false // the words of prose may have another meaning together
	}
	for _, word := range needed {
		if !known[word] {
			return false
		}
	}
	return len(needed) > 0
}

// title returns the letters of the title or heading of an HTML page, or the page if it has neither.
func title(page string) string {
	found := titles.Get().FindAllStringSubmatch(page, 2)
	if found == nil {
		return page
	}
	text := ""
	for _, t := range found {
		text += " " + digits.Replace(t[1])
	}
	return text
}

var digits = strings.NewReplacer("0", "", "1", "", "2", "", "3", "", "4", "", "5", "", "6", "", "7", "", "8", "", "9", "")

// appendTold appends the words of a JSON value that say more than a code, and the names of members that are not usual in errors.
func appendTold(words []string, name string, value any) []string {
	switch v := value.(type) {
	case map[string]any:
		for member, inner := range v {
			if usualMembers[strings.ToLower(member)] != isNoise {
				words = appendTold(words, member, inner)
			}
		}
	case []any:
		for _, inner := range v {
			words = appendTold(words, name, inner)
		}
	case string:
		switch usual := usualMembers[strings.ToLower(name)]; {
		case !strings.Contains(v, " ") && (usual == isCode || usual == isText && strings.Contains(v, "_") && name == "error"):
			return words
		case usual == 0:
			words = append(words, wordsOf(name)...)
		}
		words = append(words, wordsOf(v)...)
	}
	return words
}

// isCode marks members whose value is a code or a type if it is one word, isText members with a text, and isNoise members that only repeat
// the request or are for the authors of the program.
const (
	isCode = 1 + iota
	isText
	isNoise
)

// usualMembers are the members of errors whose names say nothing.
var usualMembers = map[string]int{
	"code": isCode, "type": isCode, "name": isCode, "status": isCode, "errno": isCode, "kind": isCode, "category": isCode, "validation": isCode, "origin": isCode, "syscall": isCode,
	"": isText, "message": isText, "msg": isText, "error": isText, "errors": isText, "detail": isText, "details": isText, "description": isText, "path": isText,
	"reason": isText, "title": isText, "text": isText, "body": isText, "expected": isText, "received": isText, "keys": isText, "options": isText, "field": isText, "values": isText, "errormessage": isText,
	"response": isText, "data": isText, "request": isNoise, "headers": isNoise, "config": isNoise, "stack": isNoise, "stacktrace": isNoise, "timestamp": isNoise,
}

// wordsOf returns the words of a text in small letters.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	tags   = lazyregexp.New(`<[^<>]*>`)
	pages  = lazyregexp.New(`(?is)<(?:!doctype|html|head|body).*</\w+>`)
	titles = lazyregexp.New(`(?i)<(?:title|h1)[^>]*>([^<]*)<`)
	// labels are the beginnings of messages that say only that there is an error.
	labels = lazyregexp.New(`^(?:(?:Error|MCP error -?\d+|Input validation error|Invalid (?:input|tools/call request)|Invalid arguments for tool \S+|Tool \S+ (?:parameter validation|execution) failed): )+`)
)
